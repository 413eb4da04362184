# SPDX-License-Identifier: Apache-2.0
"""The site that `make docs` builds from these pages, from docstrings and from the headers of the C++ library."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))
project = "copse"
copyright = "the copse maintainers"
release = re.search(r"project\(copse VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "breathe", "copse_site"]
nb_execution_mode = "off"  # notebooks are shown as they are stored; python/tests runs them
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Links from a page to a file of the repository that is no page: the reader of the site does not have it.
# ref.python: a word of a docstring that two classes have an attribute of.
suppress_warnings = ["myst.xref_missing", "myst.header", "ref.python"]
exclude_patterns = ["requirements.txt"]
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False, "undoc-members": False}
breathe_projects = {"copse": str(ROOT / "build" / "doxygen" / "xml")}
breathe_default_project = "copse"
highlight_language = "none"

html_theme = "furo"
html_title = f"copse {release}"
html_static_path = []
templates_path = ["templates"]
html_sidebars = {"**": ["sidebar/brand.html", "sidebar/search.html", "versions.html", "sidebar/scroll-start.html", "sidebar/navigation.html", "sidebar/scroll-end.html"]}
