# SPDX-License-Identifier: Apache-2.0
"""The scripts that reach for the network, with what they call replaced by stand-ins of a few lines."""
import hashlib
import io
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"
LOCKED_APT = """#!/bin/sh
echo "$@" >>"$LOG"
[ "$(wc -l <"$LOG")" -gt 2 ] && exit 0
echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt)" >&2
exit 100
"""


class Tools(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = pathlib.Path(directory.name)

    def stand_in(self, name, text):
        path = self.dir / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def run_tool(self, name, *arguments, code=0):
        environment = {**os.environ, "PATH": f"{self.dir / 'bin'}:{os.environ['PATH']}", "LOG": str(self.dir / "log")}
        done = subprocess.run([TOOLS / name, *arguments], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def install(self, apt_get, code=0, step="build"):
        self.stand_in("dpkg-query", "#!/bin/sh\nexit 1\n")
        self.stand_in("sleep", "#!/bin/sh\n")
        self.stand_in("apt-get", apt_get)
        return self.run_tool("install_packages", step, code=code)

    def test_installing_waits_for_another_package_manager(self):
        said = self.install(LOCKED_APT)
        self.assertEqual(said.count("waiting for another package manager"), 1)
        calls = (self.dir / "log").read_text().splitlines()
        self.assertEqual(len(calls), 3)
        self.assertTrue(all("install" in call for call in calls), calls)

    def test_an_npm_from_elsewhere_is_kept(self):
        self.stand_in("npm", "#!/bin/sh\n")
        said = self.install("#!/bin/sh\n", step="test").split()
        self.assertIn("chromium", said)
        self.assertNotIn("npm", said)

    def test_other_failures_refresh_the_lists_once_and_are_told(self):
        said = self.install('#!/bin/sh\necho "$@" >>"$LOG"\ncase $* in *install*) echo "E: no such package" >&2; exit 100;; esac\n', code=1)
        self.assertIn("E: no such package", said)
        self.assertEqual(["update" in call for call in (self.dir / "log").read_text().splitlines()], [False, True, False])

    def fetch(self, npm_ships):
        """What fetch_charts makes of packages with these scripts in them, npm being the only source that answers."""
        for name, text in npm_ships.items():
            with tarfile.open(self.dir / f"{name}.tgz", "w:gz") as package:
                entry = tarfile.TarInfo(f"package/build/{name}.min.js")
                entry.size = len(text)
                package.addfile(entry, io.BytesIO(text))
        self.stand_in("npm", f'#!/bin/sh\nfor wanted; do :; done\ncp "{self.dir}/${{wanted%@*}}.tgz" "$(echo "$wanted" | tr @ -).tgz"\n')
        self.stand_in("python3", "#!/bin/sh\nexit 1\n")
        said = self.run_tool("fetch_charts", str(self.dir / "charts"))
        return said, {name: (self.dir / "charts" / f"{name}.js").read_bytes() for name in npm_ships}

    def test_a_script_that_is_not_the_locked_one_is_not_used(self):
        said, got = self.fetch({name: b"alert(1)" for name in ("vega", "vega-lite", "vega-embed")})
        self.assertIn("vega from npm is not the file that tools/charts.lock names", said)
        self.assertEqual(set(got.values()), {b""})

    def test_every_file_names_the_same_version(self):
        root = TOOLS.parent
        version = re.search(r"project\(copse VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]
        for name, line in {"CITATION.cff": f"version: {version}", "packaging/conda/recipe.yaml": f'  version: "{version}"', "CHANGELOG.md": f"## {version}"}.items():
            self.assertIn(f"\n{line}\n", (root / name).read_text(), name)

    def test_the_locked_scripts_are_used(self):
        charts = TOOLS.parent / "build" / "charts"
        if not (charts / "vega.js").is_file() or (charts / "vega.js").stat().st_size == 0:
            self.skipTest("built without charts")
        locked = (TOOLS / "charts.lock").read_text()
        shipped = {name: (charts / f"{name}.js").read_bytes() for name in ("vega", "vega-lite", "vega-embed")}
        for name, text in shipped.items():
            self.assertRegex(locked, f"(?m)^(npm|pypi) .* {hashlib.sha256(text).hexdigest()} {name}$")
        if f"{hashlib.sha256(shipped['vega']).hexdigest()} vega" in locked.split("pypi")[0]:
            self.assertEqual(self.fetch(shipped)[1], shipped)


if __name__ == "__main__":
    unittest.main()
