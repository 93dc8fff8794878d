"""How `make docs` builds the site: MyST pages, every example run, an API reference made from the package."""

import pathlib
import sys

import forthwith

sys.path.insert(0, str(pathlib.Path(__file__).parent / "_ext"))

project = "forthwith"
copyright = "the forthwith developers"
version = release = forthwith.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "executed"]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# Links to files of the repository that are no pages; a parameter called `type` beside properties of that name.
suppress_warnings = ["myst.xref_missing", "ref.python"]

html_theme = "furo"
html_title = "forthwith"
html_static_path = ["_static"]
html_css_files = ["forthwith.css"]
templates_path: list[str] = []

# Names in docstrings, as in `Tree.arrays`, are links where there is such a name.
default_role = "py:obj"
autodoc_typehints = "signature"
autosummary_generate = False
autodoc_member_order = "bysource"
napoleon_google_docstring = True
