# SPDX-License-Identifier: Apache-2.0
"""How the program is linked: nothing is loaded from where it is started, and a slip in a reader is hard to use."""
import re
import subprocess
import unittest

from harness import COPSE, Case, main


def readelf(flag):
    return subprocess.run(["readelf", "-W", flag, COPSE], capture_output=True, text=True, check=True).stdout


IS_SANITIZED = "__asan_init" in readelf("--symbols")


class Hardening(Case):
    def test_libraries_are_looked_for_in_absolute_directories_only(self):
        for paths in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", readelf("--dynamic")):
            for path in paths.split(":"):
                self.assertTrue(path.startswith("/"), paths)

    def test_a_library_in_the_working_directory_is_not_loaded(self):
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic")):
            self.write(name, "this is no library")
        self.run_copse("--version")

    def test_it_is_loaded_anywhere(self):
        self.assertRegex(readelf("--file-header"), r"Type:\s+DYN")
        self.assertRegex(readelf("--dynamic"), r"FLAGS_1.*\bPIE\b")

    def test_tables_of_functions_are_read_only_and_the_stack_is_no_code(self):
        self.assertIn("GNU_RELRO", readelf("--segments"))
        self.assertRegex(readelf("--dynamic"), r"BIND_NOW|FLAGS_1.*\bNOW\b")
        self.assertRegex(readelf("--segments"), r"GNU_STACK\s+(0x\w+\s+){5}RW ")

    def test_the_stack_is_guarded(self):
        self.assertIn("__stack_chk_fail", readelf("--dyn-syms"))

    @unittest.skipIf(IS_SANITIZED, "the sanitizers watch these calls themselves")
    def test_calls_that_write_into_arrays_are_checked(self):
        self.assertRegex(readelf("--dyn-syms"), r"__(?!stack)\w+_chk\b")


if __name__ == "__main__":
    main()
