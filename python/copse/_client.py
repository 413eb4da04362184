# SPDX-License-Identifier: Apache-2.0
"""A client of `copse serve`, with nothing but the standard library."""
from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import uuid
from typing import Any, Iterable, Mapping


class ServerError(Exception):
    """What the server refused: `status`, and its own words (what is wrong and what to do)."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


class Client:
    """Talks to `copse serve`. What changes something carries a key and is sent again with the same key until the server has answered,
    so that a lost connection neither loses nor doubles a label. `graph` names one of several graphs."""

    def __init__(self, url: str, token: str | None = None, annotator: str | None = None, graph: str | None = None,
                 timeout: float = 30.0, retries: int = 8) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url: {url!r} is no address of a server\n  give it as http://127.0.0.1:8470")
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._address = (parts.hostname, parts.port)
        self._base = parts.path.rstrip("/") + ("/v1" if graph is None else f"/v1/graphs/{urllib.parse.quote(graph, safe='')}")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        if annotator:
            self._headers["X-Copse-Annotator"] = annotator
        self._timeout, self._retries = timeout, retries

    def _send(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        connection = self._connect(*self._address, timeout=self._timeout)
        try:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, self._base + path, data, {**self._headers, **headers})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type") or "", answer.read()
        finally:
            connection.close()

    def _call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        if method != "GET":
            headers = {"Idempotency-Key": uuid.uuid4().hex, **headers}
        for attempt in range(self._retries + 1):
            try:
                status, kind, raw = self._send(method, path, body, headers)
            except (OSError, http.client.HTTPException):
                status, kind, raw = 0, "", b""
                if attempt == self._retries:
                    raise
            if status and status not in (429, 503):
                break
            time.sleep(min(0.1 * 2**attempt, 2.0))
        if status == 204:
            return None
        if status >= 400:
            problem = json.loads(raw) if "json" in kind else {}
            raise ServerError(status, problem.get("detail", raw.decode(errors="replace")))
        return json.loads(raw) if "json" in kind else raw.decode()

    @staticmethod
    def _node(node: str, rest: str = "", **query: Any) -> str:
        name = str(node)
        if name in (".", ".."):  # which a path would take for steps
            name, query = "-", {"id": name, **query}
        return f"/nodes/{urllib.parse.quote(name, safe='')}{rest}" + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def graph(self) -> dict[str, Any]:
        """Facts about the graph: size, learner, classes, number of labels."""
        return self._call("GET", "/graph")

    def node(self, node: str, neighbors: int = 50) -> dict[str, Any]:
        """A node with its label, what is predicted of it, why, and its neighbours."""
        return self._call("GET", self._node(node, neighbors=neighbors))

    def search(self, text: str, limit: int = 20) -> list[dict[str, Any]]:
        """Nodes whose id or name holds the text."""
        return self._call("GET", "/search?" + urllib.parse.urlencode({"q": text, "limit": limit}))["nodes"]

    def predict(self, nodes: Iterable[str]) -> list[dict[str, Any]]:
        """One answer per node: label, confidence, whether a label reaches it, whether its label is known."""
        ids = [str(node) for node in nodes]
        answers: list[dict[str, Any]] = []
        for begin in range(0, len(ids), 5000):
            answers += self._call("POST", "/predict", {"nodes": ids[begin:begin + 5000]})["predictions"]
        return answers

    def label(self, node: str, label: str, if_version: int | None = None) -> dict[str, Any]:
        """Tells a label. On the server's disk when this returns; stored once, however often it had to be sent."""
        headers = {} if if_version is None else {"If-Match": f'"{if_version}"'}
        return self._call("PUT", self._node(node, "/label"), {"label": label}, **headers)

    def retract(self, node: str) -> dict[str, Any]:
        """Takes a node's label back."""
        return self._call("DELETE", self._node(node, "/label"))

    def undo(self) -> dict[str, Any]:
        """Takes back the caller's last label or skip."""
        return self._call("POST", "/undo", {})

    def add_labels(self, labels: Mapping[str, str]) -> int:
        """Many labels, all or none; returns how many. ServerError says which lines are wrong."""
        lines = "".join(json.dumps({"node": str(node), "label": label}) + "\n" for node, label in labels.items())
        return self._call("POST", "/labels", lines.encode(), **{"Content-Type": "application/x-ndjson"})["accepted"]

    def labels(self) -> dict[str, str]:
        """All labels that stand."""
        lines = self._call("GET", "/labels").split("\n")[1:-1]  # other line ends may be part of a label
        return dict(line.split("\t", 1) for line in lines)

    def next_question(self) -> dict[str, Any] | None:
        """The node to ask about, as `node` shows it; None when no question is left."""
        answer = self._call("POST", "/queue/next", {})
        return None if answer is None else answer["node"]

    def skip(self, node: str, reason: str = "later") -> None:
        """Do not ask about this node: "later" for this person, "nobody" for everybody."""
        self._call("POST", "/queue/skip", {"node": str(node), "reason": reason})

    def progress(self) -> dict[str, Any]:
        """Classes, the error so far, a hint when to stop, who told how much, agreement."""
        return self._call("GET", "/progress")

    def history(self, limit: int = 50, before: int | None = None) -> list[dict[str, Any]]:
        """Events, the latest first."""
        return self._call("GET", f"/history?limit={limit}" + ("" if before is None else f"&before={before}"))["events"]
