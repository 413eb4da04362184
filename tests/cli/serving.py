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

    def __init__(self, directory, *arguments, graph="graph.tsv", **how):
        self.log = open(directory / "serve.log", "w+b")
        self.process = subprocess.Popen([COPSE, "serve", *([graph] if graph else []), "--data", "data", "--listen", "127.0.0.1:0",
                                         *arguments], cwd=directory, stderr=self.log, stdin=subprocess.DEVNULL, **how)
        self.port = self.wait_for_port()

    def text(self):
        self.log.seek(0)
        return self.log.read().decode()

    def wait_for_port(self):
        for _ in range(1200):
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.text())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                raise RuntimeError(f"copse serve ended with {self.process.returncode}: {self.text()}")
            time.sleep(0.05)
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


class ServeCase(Case):
    def serve(self, *arguments, **how):
        server = Server(self.dir, *arguments, **how)
        self.addCleanup(server.close)
        return server
