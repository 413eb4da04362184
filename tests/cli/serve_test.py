# SPDX-License-Identifier: Apache-2.0
"""`copse serve`, the real program on a free port of this machine: every route, roles, retries, streams, faults."""
import concurrent.futures
import json
import os
import random
import resource
import signal
import socket
import subprocess
import time
import unittest
import urllib.parse

from harness import COPSE, GRAPH, main
from serving import ServeCase

ROUTES = [("GET", "/v1/graph", "read"), ("GET", "/v1/graphs", "read"), ("GET", "/v1/nodes/a", "read"), ("GET", "/v1/nodes/a/neighborhood", "read"),
          ("GET", "/v1/search?q=a", "read"), ("POST", "/v1/predict", "read"), ("GET", "/v1/labels", "read"), ("GET", "/v1/progress", "read"),
          ("GET", "/v1/history", "read"), ("GET", "/metrics", "read"), ("GET", "/v1/events", "read"), ("PUT", "/v1/nodes/a/label", "label"),
          ("DELETE", "/v1/nodes/a/label", "label"), ("POST", "/v1/undo", "label"), ("POST", "/v1/labels", "label"),
          ("POST", "/v1/queue/next", "label"), ("POST", "/v1/queue/skip", "label"), ("POST", "/v1/snapshots", "admin"),
          ("GET", "/healthz", "nobody"), ("GET", "/readyz", "nobody"), ("GET", "/v1/openapi.json", "nobody"), ("GET", "/", "nobody"),
          ("GET", "/app.js", "nobody"), ("GET", "/app.css", "nobody"), ("GET", "/favicon.svg", "nobody")]


def read_stream(server, count, last=None):
    """The first `count` events of the stream, as (id, event, data)."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
        head = f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n" + (f"Last-Event-ID: {last}\r\n" if last is not None else "") + "\r\n"
        client.sendall(head.encode())
        data, events = b"", []
        while len(events) < count:
            data += client.recv(65536)
            blocks = data.split(b"\r\n\r\n", 1)[-1].decode().split("\n\n")[:-1]
            events = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks if "event: " in block]
        return [(int(one["id"]), one["event"], json.loads(one["data"])) for one in events[:count]]


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
        self.assertEqual(server.get("/v1/labels").decode(), "node\tlabel\na\tred\nb\tred\ne\tblue\nf\tblue\n")
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

    def test_hostile_ids_and_labels_come_back_as_they_were(self):
        names = ["<script>alert(1)</script>", "a/b?c#d%", "\u202eright to left", "n" * 10000]
        self.write("odd.tsv", "".join(f"{name}\tx\n" for name in names))
        server = self.serve(graph="odd.tsv")
        for name in names:
            self.assertEqual(server.label(name, "<b>&\u202e")[0], 200, name[:30])
            node = server.get("/v1/nodes/" + urllib.parse.quote(name, safe=""))
            self.assertEqual((node["id"], node["label"]), (name, "<b>&\u202e"))
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
        self.assertEqual({(method, path) for method, path, _ in listed},
                         {(method, path.split("?")[0].replace("/nodes/a", "/nodes/{id}")) for method, path, _ in ROUTES})
        self.assertEqual(document["openapi"], "3.1.0")


class Security(ServeCase):
    def test_every_route_for_every_role(self):
        tokens = {None: None, "wrong": "copse_0"}
        for role in ("read", "label", "admin"):
            tokens[role] = self.run_copse("serve", "token", "add", role + "er", role, "--data", "data")[0].strip()
        self.assertEqual(self.run_copse("serve", "token", "list", "--data", "data")[0], "reader\tread\nlabeler\tlabel\nadminer\tadmin\n")
        server = self.serve()
        order = ["nobody", "read", "label", "admin"]
        for method, path, needed in ROUTES:
            if path == "/v1/events":
                continue
            for role, token in tokens.items():
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                status = server.request(method, path, {} if method in ("POST", "PUT") else None, **headers)[0]
                may = order.index(role if role in order else "nobody") >= order.index(needed)
                self.assertEqual(status not in (401, 403), may, (method, path, role, status))
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

    def test_other_addresses_need_a_token(self):
        _, errors = self.run_copse("serve", "graph.tsv", "--data", "data", "--listen", "0.0.0.0:0", code=2)
        self.assertIn("there is no token", errors)

    def test_other_hosts_and_origins_are_refused(self):
        server = self.serve("--host", "labels.example.org")
        self.assertEqual(server.request("GET", "/v1/graph", Host="evil.example")[0], 421)
        self.assertEqual(server.request("GET", "/v1/graph", Host="labels.example.org")[0], 200)
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
        answered, tried, number = {}, {}, 0
        for _ in range(rounds):
            server = self.serve(graph="path.tsv")
            stop = time.monotonic() + 0.2 + seed.random() * 0.3
            jobs = [(f"{number + i}", f"{seed.randrange(3)}", f"key{number + i}") for i in range(2000)]

            def post(some):
                for node, label, key in some:
                    if time.monotonic() > stop + 5:
                        return
                    node = str(int(node) % 3000)
                    tried[key] = (node, label)
                    try:
                        status, _, body = server.label(node, label, key)
                    except OSError:
                        return
                    except Exception:
                        return
                    if status == 200:
                        answered[key] = (node, label, body["seq"])

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                posts = [pool.submit(post, jobs[i::4]) for i in range(4)]
                time.sleep(max(0, stop - time.monotonic()))
                server.process.kill()
                concurrent.futures.wait(posts)
            server.close()
            number += 2000
        server = self.serve(graph="path.tsv")
        stored, before = {}, None
        while True:
            page = server.get("/v1/history?limit=1000" + (f"&before={before}" if before else ""))["events"]
            for event in page:
                key = event["id"].split("\n")[1]
                self.assertNotIn(key, stored)
                stored[key] = (event["node"], event["label"], event["seq"])
            if len(page) < 1000:
                break
            before = page[-1]["seq"]
        self.assertGreater(len(answered), rounds)
        for key, value in answered.items():
            self.assertEqual(stored.get(key), value)
        for key, value in stored.items():
            self.assertEqual(tried[key], value[:2])
        fold = {node: label for node, label, _ in sorted(stored.values(), key=lambda one: one[2])}
        lines = server.get("/v1/labels").decode().splitlines()[1:]
        self.assertEqual(dict(line.split("\t") for line in lines), fold)
        key, (node, label, seq) = next(iter(answered.items()))
        self.assertEqual(server.label(node, label, key)[2]["seq"], seq)

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

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_directory_that_cannot_be_written_is_refused(self):
        (self.dir / "data").mkdir(mode=0o500)
        self.assertIn("--data DIR", self.run_copse("serve", "graph.tsv", "--data", "data", code=2)[1])

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
        self.write("graph.tsv", GRAPH + "a\tnew\t1\n")
        server.process.send_signal(signal.SIGHUP)
        for _ in range(200):
            if server.get("/v1/graph")["nodes"] == 9:
                break
            time.sleep(0.05)
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

    def test_half_open_and_malformed_clients_hold_nobody_up(self):
        server = self.serve()
        clients = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
        for client in clients:
            client.sendall(b"GET /v1/graph HTTP/1.1\r\nHost: local")
        seed = random.Random(5)
        for i in range(200):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                line = [b"GET /%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", bytes(seed.randrange(256) for _ in range(100)) + b"\r\n\r\n",
                        b"PUT /v1/nodes/a/label HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                        b"GET / HTTP/9.9\r\n\r\n"][i % 4]
                client.sendall(line)
        start = time.monotonic()
        self.assertEqual(server.get("/healthz"), {"status": "ok"})
        self.assertLess(time.monotonic() - start, 2)
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20000 + b"\r\n\r\n")
            self.assertIn(b"431", client.recv(1000))
        for client in clients:
            client.close()
        self.assertEqual(server.end(), 0)

    def test_two_servers_do_not_share_labels(self):
        self.serve()
        self.assertIn("another process", self.run_copse("serve", "graph.tsv", "--data", "data", "--listen", "127.0.0.1:0", code=2)[1])


if __name__ == "__main__":
    main()
