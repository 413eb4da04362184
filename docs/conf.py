# SPDX-License-Identifier: Apache-2.0
"""The site that `make docs` builds from these pages, from docstrings and from the headers of the C++ library."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
project = "copse"
copyright = "the copse maintainers"
release = re.search(r"project\(copse VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Links from a page to a file of the repository that is no page: the reader of the site does not have it.
suppress_warnings = ["myst.xref_missing", "myst.header"]
exclude_patterns = ["requirements.txt"]
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False, "undoc-members": False}
breathe_projects = {"copse": str(ROOT / "build" / "doxygen" / "xml")}
breathe_default_project = "copse"
highlight_language = "none"

html_theme = "furo"
html_title = f"copse {release}"
html_static_path = []
