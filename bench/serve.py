# SPDX-License-Identifier: Apache-2.0
"""Load on `copse serve` over loopback: predictions while labels arrive, listeners, questions, memory, restart.

    bench/serve.py build/copse GRAPH [--seconds 10] [--connections 8] [--nodes-per-request 1] [--labels-per-second 100]
                   [--listeners 0] [--labels 0] [--strategy random] [--learner wta]

GRAPH has nodes 0, 1, 2, ... (copse graph generate). --labels tells so many before the load begins, and after it the server is killed and
started again. The clients take a good part of the machine themselves: the server's own share is printed as CPU time, and that of an idle
machine may be better in every figure."""
import argparse
import http.client
import json
import multiprocessing
import os
import random
import re
import selectors
import socket
import subprocess
import tempfile
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("copse")
    parser.add_argument("graph")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--nodes-per-request", type=int, default=1)
    parser.add_argument("--labels-per-second", type=float, default=100)
    parser.add_argument("--listeners", type=int, default=0)
    parser.add_argument("--labels", type=int, default=0)
    parser.add_argument("--strategy", default="random")
    parser.add_argument("--learner", default="wta")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        server = Server(options, data)
        try:
            print(f"started in {server.seconds:.1f} s, {server.cpu():.1f} s of CPU, {server.memory():.0f} MB")
            if options.labels:
                tell_many(server, options.labels)
            load(server, options)
            questions(server)
            if options.labels:
                server.process.kill()
                server.process.wait()
                server = Server(options, data)
                print(f"started again after a kill, {server.get('/v1/graph')['labels']} labels: {server.seconds:.1f} s, {server.cpu():.1f} s of CPU")
        finally:
            server.process.kill()
            server.process.wait()


class Server:
    def __init__(self, options, data):
        start = time.monotonic()
        log = os.path.join(data, "log")
        with open(log, "w") as file:
            self.process = subprocess.Popen([options.copse, "serve", options.graph, "--data", data, "--listen", "127.0.0.1:0", "--strategy",
                                             options.strategy, "--learner", options.learner], stderr=file)
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/", open(log).read())):
            if self.process.poll() is not None:
                raise SystemExit(open(log).read())
            time.sleep(0.02)
        self.seconds = time.monotonic() - start
        self.address = ("127.0.0.1", int(found.group(1)))

    def cpu(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{self.process.pid}/status").read()).group(1)) / 1024

    def get(self, path):
        return json.loads(call(http.client.HTTPConnection(*self.address), "GET", path))


def call(connection, method, path, body=None, **headers):
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status in (200, 204), (answer.status, text[:200])
    return text


def tell_many(server, count):
    connection, start = http.client.HTTPConnection(*server.address), time.monotonic()
    nodes = random.Random(1).sample(range(server.get("/v1/graph")["nodes"]), count)
    for begin in range(0, count, 50_000):
        lines = "".join(f"{node}\t{'abcd'[node % 4]}\n" for node in nodes[begin:begin + 50_000])
        call(connection, "POST", "/v1/labels", lines, Content_Type="text/tab-separated-values")
    print(f"{count} labels told in {time.monotonic() - start:.1f} s, {server.memory():.0f} MB")


def ask(address, num_nodes, options, stop, results):
    """One process, one request at a time on each connection."""
    seed, select = random.Random(), selectors.DefaultSelector()

    def request():
        body = json.dumps({"nodes": [str(seed.randrange(num_nodes)) for _ in range(options.nodes_per_request)]})
        return f"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()

    requests, times = [request() for _ in range(2000)], []
    for _ in range(options.connections):
        client = socket.create_connection(address)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        select.register(client, selectors.EVENT_READ, [time.monotonic(), b""])
        client.sendall(seed.choice(requests))
    while time.monotonic() < stop:
        for key, _ in select.select(1):
            key.data[1] += key.fileobj.recv(1 << 20)
            head, found, body = key.data[1].partition(b"\r\n\r\n")
            if not found or len(body) < int(re.search(rb"Content-Length: (\d+)", head).group(1)):
                continue
            assert head.startswith(b"HTTP/1.1 200"), head
            now = time.monotonic()
            times.append(now - key.data[0])
            key.data[:] = [now, b""]
            key.fileobj.sendall(seed.choice(requests))
    results.put(("predictions", times))


def tell(address, num_nodes, per_second, stop, results):
    connection, seed, times, sent = http.client.HTTPConnection(*address), random.Random(), [], {}
    while (begin := time.monotonic()) < stop:
        answer = json.loads(call(connection, "PUT", f"/v1/nodes/{seed.randrange(num_nodes)}/label", json.dumps({"label": seed.choice("abcd")})))
        times.append(time.monotonic() - begin)
        sent[answer["seq"]] = time.monotonic()
        time.sleep(max(0, 1 / per_second - times[-1]))
    results.put(("labels", times))
    results.put(("sent", sent))


def listen(address, count, stop, ready, results):
    """When the last of all listeners got each event."""
    select, last = selectors.DefaultSelector(), {}
    for _ in range(count):
        client = socket.create_connection(address)
        client.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        select.register(client, selectors.EVENT_READ)
    ready.set()
    while time.monotonic() < stop + 1:
        for key, _ in select.select(0.2):
            text, now = key.fileobj.recv(1 << 16), time.monotonic()
            for seq in re.findall(rb"^id: (\d+)$", text, re.M):
                last.setdefault(int(seq), []).append(now)
    results.put(("heard", {seq: (max(times), len(times)) for seq, times in last.items()}))


def load(server, options):
    num_nodes = server.get("/v1/graph")["nodes"]
    results, ready = multiprocessing.Queue(), multiprocessing.Event()
    stop = time.monotonic() + options.seconds + (2 if options.listeners else 0)
    jobs = []
    if options.listeners:
        jobs.append(multiprocessing.Process(target=listen, args=(server.address, options.listeners, stop, ready, results)))
        jobs[0].start()
        ready.wait()
        print(f"{options.listeners} listeners: {server.memory():.0f} MB")
    begin, before = time.monotonic(), server.cpu()
    writers = 8 if options.labels_per_second else 0
    jobs.append(multiprocessing.Process(target=ask, args=(server.address, num_nodes, options, stop, results)))
    jobs += [multiprocessing.Process(target=tell, args=(server.address, num_nodes, options.labels_per_second / writers, stop, results)) for _ in range(writers)]
    for job in jobs[1 if options.listeners else 0:]:
        job.start()
    found = {"predictions": [], "labels": [], "sent": {}, "heard": {}}
    for _ in range(1 + 2 * writers + (1 if options.listeners else 0)):
        name, value = results.get()
        found[name] = {**found[name], **value} if isinstance(value, dict) else found[name] + value
    seconds, used = stop - begin, server.cpu() - before
    for job in jobs:
        job.join()
    print("what\tper_second\tp50_ms\tp99_ms\tp99.9_ms")
    show("predictions", found["predictions"], options.nodes_per_request / seconds)
    show("labels", found["labels"], 1 / seconds)
    heard = [(time_, found["sent"][seq]) for seq, (time_, count) in found["heard"].items() if count == options.listeners and seq in found["sent"]]
    if heard:
        show("all_listeners_told", [last - sent for last, sent in heard], 1 / seconds)
    requests = len(found["predictions"]) + len(found["labels"])
    print(f"server: {used:.2f} s of CPU in {seconds:.1f} s, {1e6 * used / max(1, requests):.0f} us per request, {server.memory():.0f} MB; {num_nodes} nodes, "
          f"{options.connections} connections, {options.nodes_per_request} nodes per request")


def questions(server):
    connection, times = http.client.HTTPConnection(*server.address), []
    for i in range(100):
        begin = time.monotonic()
        answer = call(connection, "POST", "/v1/queue/next", "{}", X_Copse_Annotator="bench")
        times.append(time.monotonic() - begin)
        if not answer:  # all have labels
            break
        call(connection, "PUT", f"/v1/nodes/{json.loads(answer)['node']['id']}/label", '{"label": "a"}', X_Copse_Annotator="bench")
    show("next question", times, 0.01)


def show(what, times, share):
    times.sort()
    at = lambda q: f"{1000 * times[min(len(times) - 1, int(q * len(times)))]:.2f}" if times else "-"
    print(what, f"{len(times) * share:.0f}", at(0.5), at(0.99), at(0.999), sep="\t")


if __name__ == "__main__":
    main()
