# SPDX-License-Identifier: Apache-2.0
"""copse.Client against a server that loses answers: nothing is lost and nothing is doubled."""
import http.server
import json
import threading

import pytest

import copse


class Flaky(http.server.BaseHTTPRequestHandler):
    """Stores every key once, and forgets to answer every other request."""

    stored, count = {}, 0

    def do_PUT(self):
        key, body = self.headers["Idempotency-Key"], json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        replayed = key in Flaky.stored
        Flaky.stored.setdefault(key, (self.path, body["label"]))
        Flaky.count += 1
        if Flaky.count % 2:
            self.close_connection = True
            return
        self.answer(200, {"replayed": replayed})

    def do_GET(self):
        self.answer(404, {"detail": "no such node; look for it"})

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def url():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_lost_answer_is_asked_for_again_with_the_same_key(url):
    client = copse.Client(url)
    for node in ("a/b", "c"):
        assert client.label(node, "red")["replayed"]
    assert client.label("..", "red")["replayed"]
    assert sorted(Flaky.stored.values()) == [("/v1/nodes/-/label?id=..", "red"), ("/v1/nodes/a%2Fb/label", "red"), ("/v1/nodes/c/label", "red")]


def test_the_servers_words_are_the_errors(url):
    with pytest.raises(copse.ServerError, match="404: no such node; look for it"):
        copse.Client(url).node("zzz")


def test_an_address_that_is_none_is_refused():
    with pytest.raises(ValueError, match="http://127.0.0.1:8470"):
        copse.Client("localhost:8470")
