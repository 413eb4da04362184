# SPDX-License-Identifier: Apache-2.0
"""`copse serve`, the real program on a free port of this machine: every route, roles, retries, streams, faults."""
import base64
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

from harness import COPSE, GRAPH, main
from serving import ServeCase, post_until_it_ends, read_events

ROUTES = [("GET", "/v1/graph", "read"), ("GET", "/v1/graphs", "read"), ("GET", "/v1/nodes/a", "read"), ("GET", "/v1/nodes/a/neighborhood", "read"),
          ("GET", "/v1/search?q=a", "read"), ("POST", "/v1/predict", "read"), ("GET", "/v1/labels", "read"), ("GET", "/v1/progress", "read"),
          ("GET", "/v1/history", "read"), ("GET", "/metrics", "read"), ("GET", "/v1/events", "read"), ("PUT", "/v1/nodes/a/label", "label"),
          ("DELETE", "/v1/nodes/a/label", "label"), ("POST", "/v1/undo", "label"), ("POST", "/v1/labels", "label"),
          ("POST", "/v1/queue/next", "label"), ("POST", "/v1/queue/skip", "label"), ("POST", "/v1/snapshots", "admin"),
          ("GET", "/health", "nobody"), ("POST", "/setup", "read"), ("POST", "/predict", "read"), ("POST", "/webhook", "label"),
          ("GET", "/healthz", "nobody"), ("GET", "/readyz", "nobody"), ("GET", "/v1/openapi.json", "nobody"), ("GET", "/", "nobody"),
          ("GET", "/app.js", "nobody"), ("GET", "/app.css", "nobody"), ("GET", "/favicon.svg", "nobody")]


def read_stream(server, count, last=None, graph="/v1"):
    """The first `count` events of the stream, as (id, event, data)."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        head = f"GET {graph}/events HTTP/1.1\r\nHost: localhost\r\n" + (f"Last-Event-ID: {last}\r\n" if last is not None else "") + "\r\n"
        client.sendall(head.encode())
        data, events = b"", []
        while len(events) < count:
            data += client.recv(65536)
            blocks = data.split(b"\r\n\r\n", 1)[-1].decode().split("\n\n")[:-1]
            events = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks if "event: " in block]
        return [(int(one["id"]), one["event"], json.loads(one["data"])) for one in events[:count]]


def send_nonsense(address, seed, count):
    """Requests that no server can take, and halves of good ones."""
    good = b"PUT /v1/nodes/a/label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"label\": \"red\"}"
    for i in range(count):
        line = [b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", seed.randbytes(100) + b"\r\n\r\n",
                b"PUT /v1/nodes/a/label HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                b"GET / HTTP/9.9\r\n\r\n", b"POST /v1/labels HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
                good[:seed.randrange(len(good))], b"\r\n" * 50, b"GET " + b"/a" * 9000 + b" HTTP/1.1\r\n\r\n"][i % 8]
        if i % 3 == 0 and line:
            at = seed.randrange(len(line))
            line = line[:at] + seed.randbytes(1) + line[at + 1:]
        try:
            with socket.create_connection(address, timeout=30) as client:
                client.sendall(line)
                if i % 16 == 0:
                    client.shutdown(socket.SHUT_WR)
                    client.recv(4096)
        except OSError:  # closed by the server while we sent
            pass


class Api(ServeCase):
    def test_labels_change_answers_and_equal_those_of_the_other_verbs(self):
        server = self.serve("--seed", "3")
        for line in ("a\tred", "b\tred", "e\tblue", "f\tblue"):
            status, _, body = server.label(*line.split("\t"))
            self.assertEqual((status, body["replayed"]), (200, False))
        self.assertEqual(body["seq"], 4)
        told = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "wta", "--seed", "3",
                                                       "--digits", "exact")}
        _, _, answer = server.request("POST", "/v1/predict", {"nodes": list("abcdefgh") + ["nobody"]})
        for one in answer["predictions"][:8]:
            row = told[one["id"]]
            self.assertEqual((one["label"], one["confidence"]), (row["label"] if "label" in row else row["predicted"], float(row["confidence"])), one)
        self.assertEqual(answer["predictions"][8], {"id": "nobody", "error": "no such node"})
        node = server.get("/v1/nodes/c")
        self.assertEqual(node["prediction"]["label"], "red")
        self.assertEqual(node["degree"], 3)
        self.assertEqual(sum(one["score"] for one in node["prediction"]["scores"]), 1)
        self.assertEqual({one["id"] for one in node["neighbors"]}, {"a", "b", "d"})
        self.assertEqual(server.get("/v1/labels").decode(), "node\tlabel\na\tred\ne\tblue\nb\tred\nf\tblue\n")  # one of each class first
        around = server.get("/v1/nodes/c/neighborhood?nodes=4")
        self.assertEqual([one["id"] for one in around["nodes"]][0], "c")
        self.assertEqual(len(around["nodes"]), 4)
        self.assertEqual(server.get("/v1/graph")["labels"], 4)
        self.assertEqual(server.get("/v1/search?q=c")["nodes"][0]["id"], "c")
        progress = server.get("/v1/progress")
        self.assertEqual([one["label"] for one in progress["classes"]], ["red", "blue"])
        self.assertEqual(len(progress["curve"]), 3)  # the first one had nothing to be guessed from

    def test_solved_learners_catch_up_and_equal_predict(self):
        server = self.serve("--learner", "label_propagation", "--labels", "labels.tsv", "--strategy", "random")
        told = {row["node"]: row for row in self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "label_propagation",
                                                       "--digits", "exact")}
        for _ in range(200):
            node = server.get("/v1/nodes/c")
            if node["prediction"]["label"] and not node["prediction"]["lag"]:
                break
            time.sleep(0.05)
        self.assertEqual(node["prediction"]["confidence"], float(told["c"]["confidence"]))
        self.assertEqual(server.get("/readyz")["status"], "ready")

    def test_the_same_key_stores_once(self):
        server = self.serve()
        first = server.label("a", "red", "k1")[2]
        again = server.label("a", "red", "k1")[2]
        self.assertEqual(again, {**first, "replayed": True})
        self.assertEqual(server.label("a", "blue", "k1")[0], 409)
        self.assertEqual(server.label("b", "red", "k1")[0], 409)
        self.assertEqual(server.label("b", "red", "k1", X_Copse_Annotator="bob")[0], 200)  # another person's key
        self.assertEqual(len(server.get("/v1/history")["events"]), 2)

    def test_undo_takes_back_the_callers_last_word_only(self):
        server = self.serve()
        server.label("a", "red", X_Copse_Annotator="ann")
        server.label("b", "blue", X_Copse_Annotator="bob")
        server.label("a", "blue", X_Copse_Annotator="ann")
        status, _, body = server.request("POST", "/v1/undo", {}, X_Copse_Annotator="ann", Idempotency_Key="u1")
        self.assertEqual((status, body["node"], body["label"], body["kind"]), (200, "a", "red", "retract"))
        self.assertTrue(server.request("POST", "/v1/undo", {}, X_Copse_Annotator="ann", Idempotency_Key="u1")[2]["replayed"])
        self.assertEqual(server.request("POST", "/v1/undo", {}, X_Copse_Annotator="ann")[2]["label"], None)
        self.assertEqual(server.request("POST", "/v1/undo", {}, X_Copse_Annotator="ann")[0], 404)
        self.assertEqual(server.get("/v1/nodes/b")["label"], "blue")
        self.assertEqual(server.request("DELETE", "/v1/nodes/b/label")[2]["label"], None)
        self.assertEqual(server.request("DELETE", "/v1/nodes/b/label")[0], 404)

    def test_if_match_notices_what_others_did(self):
        server = self.serve()
        version = server.label("a", "red")[2]["version"]
        self.assertEqual(server.get("/v1/nodes/a")["version"], version)
        self.assertEqual(server.label("a", "blue", If_Match=f'"{version}"')[0], 200)
        self.assertEqual(server.label("a", "green", If_Match=f'"{version}"')[0], 412)

    def test_questions_are_leased_skipped_and_run_out(self):
        server = self.serve("--classes", "red,blue")
        ask = lambda who: server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator=who)
        first = ask("ann")[2]["node"]["id"]
        self.assertEqual(ask("ann")[2]["node"]["id"], first)  # a reload
        self.assertNotEqual(ask("bob")[2]["node"]["id"], first)
        self.assertEqual(server.request("POST", "/v1/queue/skip", {"node": first, "reason": "later"}, X_Copse_Annotator="ann")[0], 200)
        self.assertNotEqual(ask("ann")[2]["node"]["id"], first)
        seen = set()
        for _ in range(9):
            status, _, body = ask("carl")
            if status == 204:
                break
            node = body["node"]["id"]
            self.assertNotIn(node, seen)
            seen.add(node)
            server.label(node, "red", X_Copse_Annotator="carl")
        self.assertEqual(status, 204)
        self.assertIn(first, seen)
        server.request("POST", "/v1/undo", {}, X_Copse_Annotator="carl")
        self.assertEqual(ask("carl")[0], 200)

    def test_two_persons_per_node_and_their_agreement(self):
        server = self.serve("--annotators-per-node", "2", "--resolve", "majority")
        node = server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator="ann")[2]["node"]["id"]
        server.label(node, "red", X_Copse_Annotator="ann")
        self.assertEqual(server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator="bob")[2]["node"]["id"], node)
        self.assertNotEqual(server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator="ann")[2]["node"]["id"], node)
        server.label(node, "blue", X_Copse_Annotator="bob")
        progress = server.get("/v1/progress")
        self.assertEqual(len(progress["disagreements"]), 1)
        self.assertLess(progress["kappa"], 0)

    def test_an_adjudicator_decides_where_others_disagree(self):
        server = self.serve("--annotators-per-node", "2", "--resolve", "adjudicated", "--adjudicator", "judge")
        server.label("a", "red", X_Copse_Annotator="ann")
        self.assertEqual(server.get("/v1/nodes/a")["label"], "red")
        server.label("a", "blue", X_Copse_Annotator="bob")
        self.assertEqual((server.get("/v1/nodes/a")["label"], len(server.get("/v1/progress")["disagreements"])), (None, 1))
        self.assertEqual(server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator="judge")[2]["node"]["id"], "a")
        server.label("a", "blue", X_Copse_Annotator="judge")
        self.assertEqual((server.get("/v1/nodes/a")["label"], len(server.get("/v1/progress")["disagreements"])), ("blue", 0))
        server.label("a", "red", X_Copse_Annotator="carl")
        self.assertEqual(server.get("/v1/nodes/a")["label"], "blue")
        for arguments in (("--resolve", "adjudicated"), ("--adjudicator", "judge"), ("--resolve", "loudest")):
            self.assertIn("--resolve", self.run_copse("serve", "graph.tsv", *arguments, code=2)[1])

    def test_bulk_is_all_or_nothing(self):
        server = self.serve()
        status, _, body = server.request("POST", "/v1/labels", "a\tred\nzzz\tblue\n", Content_Type="text/tab-separated-values")
        self.assertEqual((status, body["accepted"], body["rejected"][0]["line"]), (422, 0, 2))
        self.assertEqual(server.get("/v1/graph")["labels"], 0)
        lines = '{"node": "a", "label": "red"}\n{"node": "b", "label": "blue"}\n'
        for _ in range(2):
            status, _, body = server.request("POST", "/v1/labels", lines, Content_Type="application/x-ndjson", Idempotency_Key="bulk")
            self.assertEqual((status, body["accepted"], body["version"]), (200, 2, 2))

    def test_the_stream_resumes_where_it_ended(self):
        server = self.serve()
        for node in "abcde":
            server.label(node, "red")
        events = read_stream(server, 3, last=2)
        self.assertEqual([seq for seq, _, _ in events], [3, 4, 5])
        self.assertEqual(events[0][2]["node"], "c")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            live = pool.submit(read_stream, server, 1)
            time.sleep(0.5)
            server.label("f", "blue")
            self.assertEqual(live.result(30)[0][0], 6)

    def test_several_graphs_keep_to_themselves(self):
        self.write("other.tsv", "x\ty\ny\tz\n")
        server = self.serve("--graph", "other=other.tsv")
        self.assertEqual([graph["name"] for graph in server.get("/v1/graphs")["graphs"]], ["graph", "other"])
        server.label("a", "red")
        for node in "xy":
            self.assertEqual(server.request("PUT", f"/v1/graphs/other/nodes/{node}/label", {"label": "up"})[0], 200)
        self.assertEqual([data["node"] for _, _, data in read_stream(server, 2, last=0, graph="/v1/graphs/other")], ["x", "y"])
        self.assertEqual([data["node"] for _, _, data in read_stream(server, 1, last=0)], ["a"])
        self.assertEqual(server.get("/v1/graphs/other/labels").decode(), "node\tlabel\nx\tup\ny\tup\n")
        self.assertEqual(server.request("GET", "/v1/graphs/other/nodes/a")[0], 404)
        self.assertIn("NAME=PATH", self.run_copse("serve", "graph.tsv", "--graph", "a/b=other.tsv", code=2)[1])

    def test_hostile_ids_and_labels_come_back_as_they_were(self):
        names = ["<script>alert(1)</script>", "a/b?c#d%", "\u202eright to left", "n" * 10000, ".", "..", "-"]
        self.write("odd.tsv", "".join(f"{name}\tx\n" for name in names))
        server = self.serve(graph="odd.tsv")
        for name in names:
            self.assertEqual(server.label(name, "<b>&\u202e")[0], 200, name[:30])
            node = server.get("/v1/nodes/" + urllib.parse.quote(name, safe=""))
            self.assertEqual((node["id"], node["label"]), (name, "<b>&\u202e"))
        for name in (".", ".."):  # as clients send them that would take these for steps of the path
            self.assertEqual(server.request("PUT", f"/v1/nodes/-/label?id={name}", {"label": "dots"})[2]["node"], name)
            self.assertEqual(server.get(f"/v1/nodes/-?neighbors=3&id={name}")["label"], "dots")
            self.assertEqual(server.get(f"/v1/nodes/-/neighborhood?id={name}")["center"], name)
        for label in ("", "a\tb", "a\nb", "x" * 1025):
            self.assertEqual(server.label("x", label)[0], 422)

    def test_errors_say_where_what_and_what_to_do(self):
        server = self.serve()
        for method, path, body, status in [("GET", "/v1/nodes/zzz", None, 404), ("GET", "/nothing", None, 404), ("DELETE", "/v1/graph", None, 405),
                                           ("PUT", "/v1/nodes/a/label", "{", 400), ("PUT", "/v1/nodes/a/label", {"label": 3}, 400),
                                           ("GET", "/v1/nodes/a?neighbors=x", None, 400), ("GET", "/v1/nodes/%zz", None, 400),
                                           ("POST", "/v1/predict", {"nodes": "a"}, 400), ("GET", "/v1/graphs/other/graph", None, 404),
                                           ("POST", "/v1/queue/skip", {"node": "a", "reason": "because"}, 422),
                                           ("POST", "/v1/labels", b"x" * (1 << 20) + b"x", 413)]:
            got, headers, problem = server.request(method, path, body)
            self.assertEqual((got, headers["Content-Type"]), (status, "application/problem+json"), (path, problem))
            self.assertEqual(set(problem), {"type", "title", "status", "detail", "instance"})
        self.assertEqual(server.get("/v1/graphs/graph/graph")["name"], "graph")

    def test_the_document_lists_every_route(self):
        server = self.serve()
        document = server.get("/v1/openapi.json")
        listed = {(method.upper(), path, row["x-copse-role"]) for path, rows in document["paths"].items() for method, row in rows.items()}
        self.assertEqual(listed, {(method, path.split("?")[0].replace("/nodes/a", "/nodes/{id}"), role) for method, path, role in ROUTES})
        self.assertEqual(document["openapi"], "3.1.0")


class Client(ServeCase):
    def test_the_python_client_does_it_all(self):
        path = pathlib.Path(__file__).parents[2] / "python" / "copse" / "_client.py"  # needs nothing but the standard library
        spec = importlib.util.spec_from_file_location("copse_client", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.write("odd.tsv", "a\tb\nb\t.\n.\t..\n..\tc/d\n")
        server = self.serve(graph="odd.tsv")
        client = module.Client(f"http://127.0.0.1:{server.port}", annotator="ann")
        self.assertEqual(client.graph()["nodes"], 5)
        for node, label in (("a", "red"), (".", "line\u2028end"), ("..", "blue"), ("c/d", "blue")):
            self.assertEqual(client.label(node, label)["node"], node)
            self.assertEqual(client.node(node)["label"], label)
        self.assertEqual(client.labels(), {"a": "red", ".": "line\u2028end", "..": "blue", "c/d": "blue"})
        self.assertEqual(client.next_question()["id"], "b")
        client.skip("b", "nobody")
        self.assertIsNone(client.next_question())
        self.assertEqual((client.undo()["node"], client.undo()["node"]), ("b", "c/d"))
        self.assertIsNone(client.retract("..")["label"])
        self.assertEqual(client.add_labels({"b": "red", "..": "red"}), 2)
        self.assertEqual([one["known"] for one in client.predict(["a", "c/d"])], [True, False])
        self.assertEqual([client.search("c")[0]["id"], client.progress()["labels"], client.history(1)[0]["node"]], ["c/d", 4, ".."])
        with self.assertRaisesRegex(module.ServerError, "422"):
            client.add_labels({"zzz": "red"})


class Equality(ServeCase):
    """After any sequence of events the answers are those of `predict`, or of `online` where the order counts, to the bit."""

    def play(self, server, seed, nodes):
        """Random events; returns the changes of labels that they made, as lines for `online`."""
        stack, lines, who = {}, [], {"X_Copse_Annotator": "ann"}
        told = lambda node: stack[node][-1] if stack.get(node) else ""
        for _ in range(40):
            node, kind = seed.choice(nodes), seed.random()
            before = {one: told(one) for one in nodes}
            if kind < 0.7:
                label = seed.choice(["red", "blue"])
                self.assertEqual(server.label(node, label, **who)[0], 200)
                stack.setdefault(node, []).append(label)
            elif kind < 0.85:
                status, _, body = server.request("POST", "/v1/undo", {}, **who)
                if status == 200:
                    node = body["node"]
                    stack[node].pop()
            elif server.request("DELETE", f"/v1/nodes/{node}/label", **who)[0] == 200:
                stack[node] = []
            if told(node) != before[node]:
                lines.append(f"{node}\t{told(node)}")
        return lines

    def answers(self, server, nodes):
        for _ in range(600):
            if all(server.get(f"/v1/nodes/{node}")["prediction"]["lag"] == 0 for node in nodes[:1]) and server.request("GET", "/readyz")[0] == 200:
                break
            time.sleep(0.05)
        found = server.request("POST", "/v1/predict", {"nodes": nodes})[2]["predictions"]
        return {one["id"]: (one["label"] or "", one["confidence"]) for one in found}

    def test_every_learner_answers_as_the_other_verbs_do(self):
        rows = [row["name"] for row in self.table("learners")]
        for number, learner in enumerate(rows):
            with self.subTest(learner):
                seed = random.Random(number)
                n = 9 if learner == "halving" else 24
                edges = {(i, seed.randrange(i)) for i in range(1, n)} | {tuple(sorted(seed.sample(range(n), 2), reverse=True)) for _ in range(n)}
                self.write("graph.tsv", "".join(f"n{u}\tn{v}\t{seed.choice([0.5, 1, 2])}\n" for u, v in sorted(edges)))
                nodes = [f"n{i}" for i in range(n)]
                shutil.rmtree(self.dir / "data", ignore_errors=True)
                common = ("--learner", learner, "--seed", "7")
                server = self.serve(*common, "--strategy", "random")
                lines = self.play(server, seed, nodes)
                got = self.answers(server, nodes)
                labels = server.get("/v1/labels").decode()
                self.write("first.tsv", labels)
                known = dict(line.split("\t") for line in labels.splitlines()[1:])
                server.end()
                again = self.serve(*common, "--strategy", "random")
                self.assertEqual(self.answers(again, nodes), got)
                again.end()
                asked = [node for node in nodes if node not in known]
                for node, label in known.items():
                    self.assertEqual(got[node], (label, 1))
                if learner in self.LIVE + self.IN_ORDER:
                    session = self.run_copse("online", "graph.tsv", *common, "--digits", "exact", "--quiet",
                                             stdin="".join(line + "\n" for line in lines + asked))[0].splitlines()
                    online = {node: (label, float(confidence)) for node, label, confidence, *_ in (row.split("\t") for row in session[-len(asked):])}
                    self.assertEqual({node: got[node] for node in asked}, online)
                if learner not in self.IN_ORDER:
                    rows = self.table("predict", "graph.tsv", "--labels", "first.tsv", *common, "--digits", "exact", "--quiet")
                    self.assertEqual(got, {row["node"]: (row["label"], float(row["confidence"])) for row in rows})

    LIVE = ("wta", "tree_cut", "majority_vote")  # learn at once; the others solve, and `online` does so from the last solution
    IN_ORDER = ("graph_perceptron", "projection", "one_projection", "cyclic_projection", "min_norm_interpolation", "pounce", "online_pool")


class LabelStudio(ServeCase):
    CONFIG = '<View><Header value="What is it?"/><Text name="package" value="$name"/><Choices name="section" toName="package" choice="single">' \
             '<Choice value="red"/><Choice value="blue"/></Choices></View>'

    def webhook(self, server, number, node, result, action="ANNOTATION_CREATED", **more):
        annotation = {"id": number, "result": result, "was_cancelled": False, "completed_by": 1, "updated_at": f"2026-01-01T00:00:0{number}Z", **more}
        return server.request("POST", "/webhook", {"action": action, "annotation": annotation, "task": {"id": 7, "data": {"name": node}},
                                                   "project": {"id": 1, "label_config": self.CONFIG}})

    def test_a_project_is_predicted_and_its_annotations_are_labels(self):
        server = self.serve("--labels", "labels.tsv")
        self.assertEqual(server.get("/health")["status"], "UP")
        version = server.request("POST", "/setup", {"project": "1.1700000000", "schema": self.CONFIG, "hostname": "http://localhost:8080",
                                                    "access_token": "secret", "extra_params": None})[2]["model_version"]
        body = {"tasks": [{"id": 7, "data": {"name": "c"}}, {"id": 8, "data": {"name": "unheard of"}}], "project": "1.1700000000",
                "label_config": self.CONFIG, "params": {"login": None, "password": None, "context": None}, "model_version": version}
        status, _, answer = server.request("POST", "/predict", body)
        self.assertEqual(status, 200)
        self.assertEqual(answer["results"][0]["result"], [{"from_name": "section", "to_name": "package", "type": "choices", "value": {"choices": ["red"]}}])
        rows = self.table("predict", "graph.tsv", "--labels", "labels.tsv", "--learner", "wta", "--digits", "exact", "--quiet")
        score = next(float(row["confidence"]) for row in rows if row["node"] == "c")
        self.assertEqual((answer["results"][0]["score"], answer["results"][0]["model_version"]), (score, version))
        self.assertEqual(answer["results"][1]["result"], [])
        choice = [{"value": {"choices": ["blue"]}, "id": "x1", "from_name": "section", "to_name": "package", "type": "choices", "origin": "manual"}]
        for _ in range(2):  # delivered twice, stored once
            status, _, answer = self.webhook(server, 1, "c", choice)
            self.assertEqual((status, answer["status"], answer["result"]["seq"]), (200, "ok", 5))
        self.assertEqual(server.get("/v1/nodes/c")["label"], "blue")
        self.assertEqual(self.webhook(server, 2, "d", [], was_cancelled=True)[0], 200)
        self.assertEqual(server.get("/v1/history?limit=1")["events"][0]["kind"], "skip")
        self.assertEqual(self.webhook(server, 3, "d", [])[0], 422)
        self.assertEqual(self.webhook(server, 4, "zzz", choice)[0], 404)
        self.assertEqual(self.webhook(server, 5, "d", [], action="START_TRAINING")[2], {"status": "Unknown event"})
        self.assertEqual(server.request("POST", "/predict", {"tasks": [{"data": {"text": "x"}}], "label_config": self.CONFIG})[0], 400)
        self.assertNotIn("secret", server.text())


class Security(ServeCase):
    def test_every_route_for_every_role(self):
        tokens = {None: None, "wrong": "copse_0"}
        for role in ("read", "label", "admin"):
            tokens[role] = self.run_copse("serve", "token", "add", role + "er", role, "--data", "data")[0].strip()
        self.assertEqual(self.run_copse("serve", "token", "list", "--data", "data")[0], "reader\tread\nlabeler\tlabel\nadminer\tadmin\n")
        server = self.serve()
        order = ["nobody", "read", "label", "admin"]
        for method, path, needed in ROUTES:
            for role, token in tokens.items():
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                if path == "/v1/events":  # HEAD: the stream itself never ends
                    method = "HEAD"
                status = server.request(method, path, {} if method in ("POST", "PUT") else None, **headers)[0]
                may = order.index(role if role in order else "nobody") >= order.index(needed)
                self.assertEqual(status not in (401, 403), may, (method, path, role, status))
        basic = lambda text: {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}
        for text, status in ((f"anybody:{tokens['read']}", 200), (f":{tokens['read']}", 200), ("x:copse_0", 401), ("", 401), (":", 401), ("a", 401)):
            self.assertEqual(server.request("GET", "/v1/graph", **basic(text))[0], status, text)
        self.assertEqual(server.request("GET", "/v1/graph", Authorization="Basic !!!!")[0], 401)
        server.label("a", "red", Authorization=f"Bearer {tokens['label']}", X_Copse_Annotator="somebody else")
        event = server.get("/v1/history", Authorization=f"Bearer {tokens['read']}")["events"][0]
        self.assertEqual(event["who"], "labeler")
        for token in tokens.values():
            self.assertNotIn(str(token), server.text())
        self.run_copse("serve", "token", "remove", "labeler", "--data", "data")
        server.process.send_signal(signal.SIGHUP)
        for _ in range(100):
            if server.label("b", "red", Authorization=f"Bearer {tokens['label']}")[0] == 401:
                break
            time.sleep(0.05)
        else:
            self.fail("the token is still good")

    def test_who_can_be_called_by_others_needs_a_token_and_stays_shut_without(self):
        for arguments in (("--listen", "0.0.0.0:0"), ("--listen", "[::]:0"), ("--host", "labels.example.org", "--listen", "127.0.0.1:0")):
            _, errors = self.run_copse("serve", "graph.tsv", "--data", "data", *arguments, code=2)
            self.assertIn("there is no token", errors)
        token = self.run_copse("serve", "token", "add", "ann", "label", "--data", "data")[0].strip()
        server = self.serve("--listen", "0.0.0.0:0", pattern=r"http://0\.0\.0\.0:(\d+)/")
        self.assertEqual(server.label("a", "red")[0], 401)
        self.assertEqual(server.label("a", "red", Authorization=f"Bearer {token}")[0], 200)
        self.run_copse("serve", "token", "remove", "ann", "--data", "data")
        server.process.send_signal(signal.SIGHUP)
        for _ in range(100):
            if server.label("a", "blue", Authorization=f"Bearer {token}")[0] != 200:
                break
            time.sleep(0.05)
        for headers in ({}, {"Authorization": f"Bearer {token}"}, {"Authorization": "Bearer "}):
            self.assertEqual(server.label("a", "green", **headers)[0], 401)

    def test_a_listed_origin_may_call_and_others_may_not(self):
        server = self.serve("--origin", "https://app.example.org")
        asked = {"Access_Control_Request_Method": "PUT", "Access_Control_Request_Headers": "idempotency-key"}
        status, headers, _ = server.request("OPTIONS", "/v1/nodes/a/label", Origin="https://app.example.org", **asked)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "https://app.example.org"))
        self.assertIn("PUT", headers["Access-Control-Allow-Methods"])
        self.assertIn("Idempotency-Key", headers["Access-Control-Allow-Headers"])
        status, headers, _ = server.label("a", "red", Origin="https://app.example.org", Sec_Fetch_Site="cross-site")
        self.assertEqual((status, headers["Access-Control-Allow-Origin"], headers["Vary"]), (200, "https://app.example.org", "Origin"))
        for origin in ("https://evil.example", "http://app.example.org", "https://app.example.org.evil.example", "null"):
            for method in ("OPTIONS", "PUT"):
                status, headers, _ = server.request(method, "/v1/nodes/a/label", '{"label": "x"}', Origin=origin, **asked)
                self.assertEqual((status, "Access-Control-Allow-Origin" in headers), (403, False))
        self.assertNotIn("Access-Control-Allow-Origin", server.request("GET", "/v1/graph")[1])

    def test_readonly_shows_and_stores_nothing(self):
        self.serve().label("a", "red")
        self.servers[0].end()
        server = self.serve("--readonly")
        self.assertTrue(server.get("/v1/graph")["readonly"])
        self.assertEqual(server.get("/v1/nodes/a")["label"], "red")
        self.assertEqual(server.request("POST", "/v1/queue/next", {})[0], 200)
        for method, path, needed in ROUTES:
            if needed in ("label", "admin") and path != "/v1/queue/next":
                self.assertEqual(server.request(method, path, {"label": "x", "node": "a"})[0], 403, path)
        self.assertEqual(server.get("/v1/graph")["version"], 1)

    def test_other_hosts_and_origins_are_refused(self):
        token = {"Authorization": "Bearer " + self.run_copse("serve", "token", "add", "ann", "label", "--data", "data")[0].strip()}
        server = self.serve("--host", "labels.example.org")
        self.assertEqual(server.request("GET", "/v1/graph", Host="evil.example", **token)[0], 421)
        self.assertEqual(server.request("GET", "/v1/graph", Host="labels.example.org", **token)[0], 200)
        self.assertEqual(server.request("POST", "/v1/undo", Origin="http://evil.example")[0], 403)
        self.assertEqual(server.request("GET", "/v1/graph", Sec_Fetch_Site="cross-site")[0], 403)
        _, headers, _ = server.request("GET", "/")
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertNotIn("unsafe-inline", headers["Content-Security-Policy"])
        self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_a_token_has_its_rate(self):
        token = self.run_copse("serve", "token", "add", "ann", "read", "--data", "data")[0].strip()
        server = self.serve("--rate", "2")
        statuses = [server.request("GET", "/v1/graph", Authorization=f"Bearer {token}") for _ in range(8)]
        self.assertEqual(statuses[-1][0], 429)
        self.assertIn("Retry-After", statuses[-1][1])
        self.assertEqual(server.request("GET", "/healthz")[0], 200)


class Faults(ServeCase):
    def test_killed_under_load_nothing_answered_is_lost_and_nothing_is_doubled(self):
        rounds = int(os.environ.get("SERVE_KILLS", 20))
        seed = random.Random(1)
        self.write("path.tsv", "".join(f"{i}\t{i + 1}\n" for i in range(3000)))
        answered, tried, stored, fold = {}, {}, {}, {}
        unanswered, replayed = [], 0
        server = self.serve(graph="path.tsv")
        for kill in range(rounds + 1):
            # Whoever got no answer sends it again: it may be stored or not, but not twice.
            jobs = unanswered + [(str(seed.randrange(3001)), str(seed.randrange(3)), f"{kill}-{i}") for i in range(2000 * (kill < rounds))]
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                posts = [pool.submit(post_until_it_ends, server, jobs[i::4], answered, tried) for i in range(4)]
                if kill < rounds:
                    time.sleep(0.02 + seed.random() * 0.2)
                    server.process.kill()
                for post in posts:
                    post.result()
            if kill < rounds:
                server.close()
                if kill % 4 == 0:  # and while it reads what the last kill left
                    starting = subprocess.Popen([COPSE, "serve", "path.tsv", "--data", "data", "--listen", "127.0.0.1:0"], cwd=self.dir, stderr=subprocess.DEVNULL)
                    time.sleep(seed.random() * 0.1)
                    starting.kill()
                    starting.wait()
                server = self.serve(graph="path.tsv")
            before = len(stored)
            read_events(server, stored)
            for key, (node, label, _) in reversed(list(stored.items())[before:]):
                self.assertEqual(tried[key], (node, label))
                fold[node] = label
            lines = server.get("/v1/labels").decode().splitlines()[1:]
            self.assertEqual(dict(line.split("\t") for line in lines), fold, f"kill {kill}")
            unanswered = [(*tried[key], key) for key in tried if key not in answered]
            replayed += sum(key in stored for _, _, key in unanswered)
        self.assertGreater(len(answered), rounds)
        self.assertEqual(answered, stored)
        print(f"{rounds} kills: {len(answered)} labels answered, none lost, none doubled; {replayed} were stored before the kill and answered after it",
              file=sys.stderr)

    def test_a_full_disk_refuses_labels_and_says_so(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        server = self.serve(preexec_fn=limit)
        last = 0
        for i in range(300):
            status, _, body = server.label("a", f"{'x' * 1000}{i % 7}")
            if status != 200:
                break
            last = body["seq"]
        self.assertEqual(status, 507, body)
        self.assertIn("disk", body["detail"])
        self.assertEqual(server.get("/v1/history?limit=1")["events"][0]["seq"], last)
        self.assertEqual(server.end(), 0)
        self.assertEqual(self.serve().get("/v1/history?limit=1")["events"][0]["seq"], last)

    def test_a_directory_that_cannot_be_written_is_refused(self):
        server = self.serve()
        server.label("a", "red")
        server.end()
        nobody = 65534
        as_nobody = {"user": nobody} if os.geteuid() == 0 else {}  # root may write everywhere
        self.dir.chmod(0o755)
        program = shutil.copy(COPSE, self.dir)  # where nobody may go; the checkout may be root's own
        for path in [self.dir / "data", *(self.dir / "data").iterdir()]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        for data in ("data", "data/further"):
            done = subprocess.run([program, "serve", "graph.tsv", "--data", data, "--listen", "127.0.0.1:0"], cwd=self.dir, capture_output=True,
                                  text=True, timeout=60, **as_nobody)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--data DIR", done.stderr)
        (self.dir / "data").chmod(0o755)

    def test_a_file_in_place_of_the_directory_is_refused(self):
        self.write("data", "a file")
        self.assertIn("--data DIR", self.run_copse("serve", "graph.tsv", "--data", "data", "--listen", "127.0.0.1:0", code=2)[1])

    def test_a_damaged_database_is_refused_with_a_remedy(self):
        server = self.serve()
        for node in "abc":
            server.label(node, "red")
        server.end()
        path = self.dir / "data" / "graph.sqlite"
        path.write_bytes(path.read_bytes()[:4096] + os.urandom(4096) * 2)
        _, errors = self.run_copse("serve", "graph.tsv", "--data", "data", "--listen", "127.0.0.1:0", code=2)
        self.assertIn("snapshot", errors)

    def test_another_graph_is_refused_without_rebase(self):
        server = self.serve()
        server.label("a", "red")
        server.label("h", "blue")
        self.assertEqual(server.end(), 0)
        self.write("graph.tsv", GRAPH.replace("g\th\t1\n", "a\tx\t1\n"))
        self.assertIn("--rebase", self.run_copse("serve", "graph.tsv", "--data", "data", "--listen", "127.0.0.1:0", code=2)[1])
        server = self.serve("--rebase")
        self.assertEqual(server.get("/v1/labels").decode(), "node\tlabel\na\tred\n")
        self.assertIn("copse_ignored_events{graph=\"graph\"} 1", server.get("/metrics").decode())

    def test_a_graph_is_reloaded_while_it_is_served(self):
        server = self.serve("--rebase")
        server.label("a", "red")
        asked = {who: server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator=who)[2]["node"]["id"] for who in ("ann", "bob", "carl")}
        self.write("graph.tsv", GRAPH + "a\tnew\t1\n")
        server.process.send_signal(signal.SIGHUP)
        for _ in range(200):
            if server.get("/v1/graph")["nodes"] == 9:
                break
            time.sleep(0.05)
        for who, node in asked.items():
            self.assertEqual(server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator=who)[2]["node"]["id"], node)
        self.assertEqual(server.label("new", "blue")[0], 200)
        self.assertEqual(server.get("/v1/graph")["labels"], 2)

    def test_a_snapshot_is_served_in_its_place(self):
        server = self.serve()
        server.label("a", "red")
        snapshot = server.request("POST", "/v1/snapshots")[2]
        server.label("a", "blue")
        server.end()
        for leftover in ("graph.sqlite-wal", "graph.sqlite-shm"):
            (self.dir / "data" / leftover).unlink(missing_ok=True)
        (self.dir / "data" / snapshot["file"]).rename(self.dir / "data" / "graph.sqlite")
        self.assertEqual(self.serve().get("/v1/nodes/a")["label"], "red")

    def test_half_open_slow_and_malformed_clients_hold_nobody_up(self):
        count = int(os.environ.get("SERVE_MALFORMED", 1000))
        server = self.serve()
        address = ("127.0.0.1", server.port)
        half_open = [socket.create_connection(address) for _ in range(100)]
        for i, client in enumerate(half_open):
            client.sendall([b"GET /v1/graph HTTP/1.1\r\nHost: local", b"PUT /v1/nodes/a/label HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
                            b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", b""][i % 4])
        slow = [socket.socket() for _ in range(20)]  # ask for much and take nothing
        for client in slow:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.connect(address)
            client.sendall(b"GET /app.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        done, worst = threading.Event(), []

        def ask_for_health():
            while not done.is_set():
                start = time.monotonic()
                self.assertEqual(server.get("/healthz"), {"status": "ok"})
                worst.append(time.monotonic() - start)
                time.sleep(0.01)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            health = pool.submit(ask_for_health)
            try:
                for _ in pool.map(lambda i: send_nonsense(address, random.Random(i), -(-count // 4)), range(4)):
                    pass
            finally:
                done.set()
            health.result()
        worst.sort()
        print(f"{count} malformed requests, 100 half-open and 20 slow clients: health in {1000 * worst[len(worst) // 2]:.1f} ms, "
              f"at worst {1000 * worst[-1]:.0f} ms", file=sys.stderr)
        self.assertLess(worst[-1], 5)  # whoever waits for half a request waits 5 s for its rest
        with socket.create_connection(address) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n")
            self.assertIn(b"431", client.recv(1000))
        for client in half_open + slow:
            client.close()
        self.assertEqual(server.label("a", "red")[0], 200)
        self.assertEqual(server.end(), 0)
        self.assertNotIn('"level":"error"', server.text())

    def test_bodies_of_any_shape_and_depth_are_answered(self):
        server = self.serve()
        deep = ["[" * 100_000, '{"a":' * 100_000, '{"nodes":' + "[" * 100_000 + "]" * 100_000 + "}", '{"tasks":' + '[{"data":' * 50_000 + "}]" * 50_000 + "}",
                '{"action":' + "[" * 100_000 + "]" * 100_000 + "}"]
        odd = ["", "null", "[]", "{}", '"a"', "1e999", "{\"label\": \"\ud800\"}", '{"nodes": [1]}', '{"nodes": null}', '{"label": {}}', "\0", "\ufeff{}"]
        for method, path, _ in ROUTES:
            if method in ("POST", "PUT", "DELETE") and path != "/v1/snapshots":
                for body in deep + odd:
                    status = server.request(method, path, body.encode("utf-8", "surrogatepass"))[0]
                    self.assertLess(status, 500, (method, path, body[:30]))
        self.assertEqual(server.get("/healthz"), {"status": "ok"})

    def test_two_servers_do_not_share_labels(self):
        self.serve()
        self.assertIn("another process", self.run_copse("serve", "graph.tsv", "--data", "data", "--listen", "127.0.0.1:0", code=2)[1])


if __name__ == "__main__":
    main()
