# SPDX-License-Identifier: Apache-2.0
"""`copse serve` through power cuts and jumps of the clock (shim.cpp).

Usage: serve_faults_test.py COPSE SHIM. POWER_CUTS=200 for more of them."""
import os
import pathlib
import random
import shutil
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
SHIM = os.path.abspath(sys.argv.pop(2))
from harness import main  # noqa: E402
from serving import ServeCase, read_events, post_until_it_ends  # noqa: E402

SECTOR = 512


def mixed(synced, written, seed):
    """What a disk may hold after a power cut: of the sectors written since the last sync any may have arrived, in any order."""
    size = seed.choice([len(synced), len(written)])
    old, new = (data[:size].ljust(size, b"\0") for data in (synced, written))
    return b"".join((new if seed.random() < 0.5 else old)[at:at + SECTOR] for at in range(0, size, SECTOR))


def cut_power(directory, copies, seed):
    """The directory as the machine finds it again."""
    below = str(directory).replace("/", "%")
    names = copies / below
    kept = set(names.read_text().split("\n")) if names.exists() else set()
    for name in kept:  # a file that was removed may be there again
        copy = copies / f"{below}%{name}"
        if not (directory / name).exists() and copy.exists() and seed.random() < 0.5:
            shutil.copy(copy, directory / name)
    for file in list(directory.iterdir()):
        copy = copies / f"{below}%{file.name}"
        if file.is_dir():
            continue
        if file.name not in kept or file.name.endswith("-shm"):
            file.unlink()  # its name was never synced; the -shm file is memory
        else:
            file.write_bytes(mixed(copy.read_bytes() if copy.exists() else b"", file.read_bytes(), seed))


def sync_all(directory, copies):
    """All that is there now would outlast a power cut."""
    below = str(directory).replace("/", "%")
    for copy in copies.glob(below + "*"):
        copy.unlink()
    for file in directory.iterdir():
        shutil.copy(file, copies / f"{below}%{file.name}")
    (copies / below).write_text("\n".join(file.name for file in directory.iterdir()))


class PowerCuts(ServeCase):
    def test_what_was_answered_is_there_after_a_power_cut(self):
        seed = random.Random(3)
        data, copies = self.dir / "data", self.dir / "synced"
        copies.mkdir()
        self.write("path.tsv", "".join(f"{i}\t{i + 1}\n" for i in range(300)))
        environment = dict(os.environ, LD_PRELOAD=SHIM, COPSE_SYNCED=str(copies))
        answered, tried = {}, {}
        for cut in range(int(os.environ.get("POWER_CUTS", 12))):
            server = self.serve(graph="path.tsv", env=environment)
            jobs = [(str(seed.randrange(300)), str(seed.randrange(3)), f"{cut}-{i}") for i in range(4000)]
            threads = [threading.Thread(target=post_until_it_ends, args=(server, jobs[i::3], answered, tried)) for i in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.05 + seed.random() * (1.5 if cut % 4 == 0 else 0.3))  # now and then SQLite moves its log into the file
            server.process.kill()
            for thread in threads:
                thread.join()
            server.close()
            if cut % 3 == 2:
                self.assertIn(self.serve(graph="path.tsv", env=environment).end(), (0,))  # an orderly end, then the cut
            self.assertIn("data", (copies / str(self.dir).replace("/", "%")).read_text().split("\n"))
            cut_power(data, copies, seed)
            server = self.serve(graph="path.tsv")
            stored = {}
            read_events(server, stored)
            for key, value in answered.items():
                self.assertEqual(stored.get(key), value, f"power cut {cut}")
            for key, value in stored.items():
                self.assertEqual(tried[key], value[:2])
            fold = {node: label for node, label, _ in sorted(stored.values(), key=lambda one: one[2])}
            lines = server.get("/v1/labels").decode().splitlines()[1:]
            self.assertEqual(dict(line.split("\t") for line in lines), fold)
            server.end()
            sync_all(data, copies)
        self.assertGreater(len(answered), 50)


class Clock(ServeCase):
    def test_jumps_of_the_clock_change_no_order_and_no_lease(self):
        self.write("clock", "0")
        server = self.serve("--lease", "60", env=dict(os.environ, LD_PRELOAD=SHIM, COPSE_CLOCK=str(self.dir / "clock")))
        ask = lambda who: server.request("POST", "/v1/queue/next", {}, X_Copse_Annotator=who)[2]["node"]["id"]
        node = ask("ann")
        years = []
        for i, jump in enumerate((0, 10 * 365 * 86400, -20 * 365 * 86400, -100 * 365 * 86400)):
            self.write("clock", str(jump))
            self.assertEqual(ask("ann"), node)
            self.assertNotEqual(ask("bob"), node)
            self.assertEqual(server.label("abdef"[i], "red", X_Copse_Annotator="carl")[2]["seq"], i + 1)
            years.append(server.get("/v1/history?limit=1")["events"][0]["at"])
        self.assertEqual([year[:4] for year in years[1:]], sorted((year[:4] for year in years[1:]), reverse=True))
        self.assertRegex(years[-1], r"^19\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual([event["seq"] for event in server.get("/v1/history")["events"]], [4, 3, 2, 1])
        self.assertEqual(server.end(), 0)
        self.assertEqual(self.serve().get("/v1/graph")["labels"], 4)


if __name__ == "__main__":
    main()
