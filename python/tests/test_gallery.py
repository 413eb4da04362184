# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/gallery show what happens: every command and program runs, and prints what the page says it prints, but for
the numbers, which move when a learner gets better.

    COPSE_PROGRAM=build/copse python python/tests/test_gallery.py [PAGE...]    writes what they print, and the pictures, into the pages

The data sets are not in the repository: COPSE_DATA, or ../shared/data; a page whose set is absent is skipped.
"""
import contextlib
import io
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
DATA = pathlib.Path(os.environ.get("COPSE_DATA", ROOT.parent / "shared" / "data"))
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PAGES = sorted(page for page in GALLERY.glob("*.md") if BLOCK.search(page.read_text()))
SLOW = {"spark": "starts a Java machine"}


def data_sets(text):
    return sorted(set(re.findall(r"^Data: `(\w+)`", text, re.MULTILINE)))


def lay_out(names, here):
    for name in names:
        (here / name).mkdir()
        for path in (DATA / name).iterdir():
            if path.suffix == ".zst":
                subprocess.run(["zstd", "-dq", path, "-o", here / name / path.stem], check=True)
            else:
                (here / name / path.name).symlink_to(path)


class Reader:
    """Does what a reader of a page does, block by block, in one directory and one Python session."""

    def __init__(self, here, program):
        (here / "bin").mkdir()
        (here / "bin" / "copse").symlink_to(pathlib.Path(program).resolve())
        self.here, self.names, self.servers, self.port = here, {"__name__": "page"}, [], None
        self.environment = {**os.environ, "PATH": f"{here / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(self, block):
        language, text, _ = block.groups()
        text = text if self.port is None else text.replace("8470", self.port)
        if text.startswith("copse serve"):
            return self.serve(text)
        if language == "sh":
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=self.here, env=self.environment, capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, f"{text}\n{done.stderr}"
            return done.stdout
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(text, "page", "exec"), self.names)
        return printed.getvalue()

    def serve(self, text):
        """The server goes on in the background, as it would in a second terminal; at a port that is free."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        command = ["bash", "-c", f"exec {text.strip()} --listen 127.0.0.1:{self.port}"]
        self.servers.append(subprocess.Popen(command, cwd=self.here, env=self.environment, stderr=subprocess.DEVNULL))
        for _ in range(300):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz")
                return ""
            time.sleep(0.1)
        raise AssertionError(f"no answer within 30 seconds: {text}")

    def close(self):
        for server in self.servers:
            server.terminate()
            server.wait(30)


def words(text):
    return [re.sub(r"\d+(\.\d+)?", "#", line).split() for line in text.splitlines()]


def as_printed(text, here, program):
    """The page with the outputs of today."""
    import matplotlib

    matplotlib.use("Agg")
    lay_out(data_sets(text), here)
    reader = Reader(here, program)

    def renewed(block):
        printed = reader.run(block)
        return block[0] if block[3] is None else f"```{block[1]}\n{block[2]}```\n\n```text\n{printed}```\n"

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        try:
            return BLOCK.sub(renewed, text)
        finally:
            reader.close()


@pytest.mark.parametrize("page", [pytest.param(p, marks=pytest.mark.slow if p.stem in SLOW else ()) for p in PAGES], ids=lambda p: p.stem)
def test_a_page_of_the_gallery_shows_what_is_printed(page, tmp_path, program):
    text = page.read_text()
    for name in data_sets(text):
        if not (DATA / name).is_dir():
            pytest.skip(f"SKIPPED: {DATA / name} is absent; COPSE_DATA says where the data sets are")
    assert words(as_printed(text, tmp_path, program)) == words(text), f"run python {pathlib.Path(__file__).relative_to(ROOT)} {page.stem}"


def test_pages_are_short_and_their_pictures_small():
    for page in PAGES:
        assert len(page.read_text().splitlines()) <= 130, page
        assert data_sets(page.read_text()) or page.stem in SLOW, page
    for picture in GALLERY.glob("*.png"):
        assert picture.stat().st_size < 120_000, picture


def write(page):
    with tempfile.TemporaryDirectory() as here:
        page.write_text(as_printed(page.read_text(), pathlib.Path(here), os.environ["COPSE_PROGRAM"]))
        for picture in pathlib.Path(here).glob("*.png"):
            shutil.copy(picture, GALLERY)


if __name__ == "__main__":
    for page in PAGES:
        if not sys.argv[1:] or page.stem in sys.argv[1:]:
            write(page)
