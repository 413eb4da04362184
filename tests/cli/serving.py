# SPDX-License-Identifier: Apache-2.0
"""What the tests of `copse serve` share: a server on a free port of this machine, and requests to it."""
import http.client
import json
import re
import signal
import subprocess
import time
import urllib.parse
import uuid

from harness import COPSE, Case


class Server:
    """`copse serve` in a directory; killed at the end by its process id."""

    def __init__(self, directory, *arguments, graph="graph.tsv", pattern=r"http://127\.0\.0\.1:(\d+)/", **how):
        self.pattern = pattern
        self.log = open(directory / "serve.log", "w+b")
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        self.process = subprocess.Popen([COPSE, "serve", *([graph] if graph else []), "--data", "data", *listen, *arguments], cwd=directory, stderr=self.log, stdin=subprocess.DEVNULL, **how)
        self.port = self.wait_for_port()

    def text(self):
        self.log.seek(0)
        return self.log.read().decode()

    def wait_for_port(self):
        for _ in range(12000):
            found = re.search(self.pattern, self.text())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                raise RuntimeError(f"copse serve ended with {self.process.returncode}: {self.text()}")
            time.sleep(0.005)
        raise RuntimeError("copse serve does not listen: " + self.text())

    def request(self, method, path, body=None, **headers):
        """(status, headers, parsed or raw body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, data.encode() if isinstance(data, str) else data, names)
            answer = connection.getresponse()
            raw = answer.read()
            kind = answer.getheader("Content-Type", "")
            return answer.status, dict(answer.getheaders()), json.loads(raw) if "json" in kind and "nd" not in kind and raw else raw
        finally:
            connection.close()

    def get(self, path, **headers):
        status, _, body = self.request("GET", path, **headers)
        assert status == 200, (status, body)
        return body

    def label(self, node, label, key=None, **headers):
        return self.request("PUT", f"/v1/nodes/{urllib.parse.quote(node, safe='')}/label", {"label": label},
                            Idempotency_Key=key or uuid.uuid4().hex, **headers)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(60)
        return code

    def close(self):
        self.end(signal.SIGKILL)
        self.log.close()


def post_until_it_ends(server, jobs, answered, tried):
    """Tells labels, (node, label, key) each, until the server is gone; notes what was sent and what was answered."""
    for node, label, key in jobs:
        tried[key] = (node, label)
        try:
            status, _, body = server.label(node, label, key)
        except (OSError, http.client.HTTPException):
            return
        if status == 200:
            answered[key] = (node, label, body["seq"])


def read_events(server, stored):
    """Adds what `stored` does not know yet, by key: (node, label, seq). Raises where a key comes twice or a number is missing."""
    known, before = len(stored), ""
    last = None
    while last is None or last > known + 1:
        page = server.get(f"/v1/history?limit=100{before}")["events"]
        if last is None and not page:
            return
        for event in page:
            assert last is None or event["seq"] == last - 1, f"{event['seq']} comes before {last}"
            last = event["seq"]
            if last <= known:
                return
            key = event["id"].split("\n")[1]
            assert key not in stored, f"{key} is stored twice"
            stored[key] = (event["node"], event["label"], last)
        before = f"&before={last}"


class ServeCase(Case):
    def setUp(self):
        super().setUp()
        self.servers = []

    def serve(self, *arguments, **how):
        server = Server(self.dir, *arguments, **how)
        self.servers.append(server)
        self.addCleanup(server.close)
        return server
