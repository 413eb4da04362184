# SPDX-License-Identifier: Apache-2.0
"""Load on `copse serve` over loopback: predictions per second and their latency while labels arrive.

    bench/serve.py build/copse GRAPH [--seconds 10] [--clients 2] [--labels-per-second 100] [--nodes-per-request 1] [--listeners 0]

Python's clients take a good part of the machine themselves: the server's own share is printed as CPU seconds."""
import argparse
import http.client
import json
import os
import random
import re
import socket
import subprocess
import tempfile
import threading
import time


def quantile(values, q):
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("copse")
    parser.add_argument("graph")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--labels-per-second", type=float, default=100)
    parser.add_argument("--nodes-per-request", type=int, default=1)
    parser.add_argument("--listeners", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data, open(os.path.join(data, "log"), "w+") as log:
        server = subprocess.Popen([options.copse, "serve", options.graph, "--data", data, "--listen", "127.0.0.1:0", "--strategy", "random"], stderr=log)
        try:
            measure(options, server, wait_for_port(server, log.name))
        finally:
            server.terminate()
            server.wait()


def wait_for_port(server, path):
    while server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", open(path).read())
        if found:
            return int(found.group(1))
        time.sleep(0.1)
    raise SystemExit(open(path).read())


def measure(options, server, port):
    def call(connection, method, path, body=None):
        connection.request(method, path, None if body is None else json.dumps(body))
        answer = connection.getresponse()
        return answer.status, answer.read()

    first = http.client.HTTPConnection("127.0.0.1", port)
    num_nodes = json.loads(call(first, "GET", "/v1/graph")[1])["nodes"]
    name = lambda: str(random.randrange(num_nodes))
    stop = time.monotonic() + options.seconds
    reads, writes = [], []
    listeners = [socket.create_connection(("127.0.0.1", port)) for _ in range(options.listeners)]
    for one in listeners:
        one.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def read():
        connection, own = http.client.HTTPConnection("127.0.0.1", port), []
        while time.monotonic() < stop:
            begin = time.monotonic()
            status, _ = call(connection, "POST", "/v1/predict", {"nodes": [name() for _ in range(options.nodes_per_request)]})
            assert status == 200
            own.append(time.monotonic() - begin)
        reads.extend(own)

    def write(share):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while time.monotonic() < stop:
            begin = time.monotonic()
            call(connection, "PUT", f"/v1/nodes/{name()}/label", {"label": random.choice("ab")})
            writes.append(time.monotonic() - begin)
            time.sleep(max(0, 1 / share - (time.monotonic() - begin)))

    def cpu():
        fields = open(f"/proc/{server.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = cpu()
    num_writers = 8 if options.labels_per_second else 0
    threads = [threading.Thread(target=read) for _ in range(options.clients)]
    threads += [threading.Thread(target=write, args=(options.labels_per_second / num_writers,)) for _ in range(num_writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = cpu() - before
    print("what\tper_second\tp50_ms\tp99_ms\tp99.9_ms")
    for what, times, weight in (("predictions", sorted(reads), options.nodes_per_request), ("labels", sorted(writes), 1)):
        print(what, f"{len(times) * weight / options.seconds:.0f}", *(f"{1000 * quantile(times, q):.2f}" for q in (0.5, 0.99, 0.999)), sep="\t")
    print(f"server: {used:.2f} s of CPU, {1e6 * used / max(1, len(reads) + len(writes)):.0f} us per request, {num_nodes} nodes, "
          f"{options.listeners} listeners, {options.clients} clients")


if __name__ == "__main__":
    main()
