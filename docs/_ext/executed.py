"""Sphinx directives that run a page's examples while the page is built, and show what they print.

``{run}`` runs Python: the blocks of a page share one namespace, in a folder with copies of the bundled test files.
What the block prints and the value of its last expression are shown below it, as in a notebook. ``{shell}`` runs
commands. A block that fails, or fails differently than ``:raises:`` or ``:exit:`` says, is a warning, and
`make docs` makes warnings errors.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import os
import pathlib
import pprint
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import warnings
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

DATA = pathlib.Path(__file__).parents[2] / "tests" / "data"
SECONDS = 120
LOGGER = logging.getLogger(__name__)


class Page:
    """The namespace and the folder that the blocks of one page share."""

    def __init__(self, root: pathlib.Path, name: str):
        self.folder = root / name.replace("/", "-")
        if not self.folder.exists():
            self.folder.mkdir()
            for path in [*DATA.glob("*.root"), *DATA.glob("avro/*.avro"), *DATA.glob("parquet/*.parquet")]:
                shutil.copy(path, self.folder / path.name)
        self.namespace: dict[str, object] = {"__name__": "__main__"}

    def run(self, code: str, where: str) -> tuple[str, object, BaseException | None]:
        """Runs code in the page's folder; returns what it printed, its last value and what it raised."""
        tree = ast.parse(code, where)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, value, error = io.StringIO(), None, None
        before = pathlib.Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(tree, where, "exec"), self.namespace)
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), where, "eval"), self.namespace)
        except Exception as exception:
            error = exception
        finally:
            os.chdir(before)
        return printed.getvalue(), value, error


def page(directive: SphinxDirective) -> Page:
    """The page of a directive: one for each document and build."""
    pages = directive.env.app.executed_pages
    name = directive.env.docname
    if name not in pages:
        pages[name] = Page(pathlib.Path(directive.env.app.executed_root), name)
    return pages[name]


def text(printed: str) -> nodes.literal_block:
    """A block of output."""
    shown = printed.rstrip("\n")
    # Text that differs from the source is taken for markup by Sphinx, and gets no box.
    block = nodes.literal_block(shown, shown)
    block["language"] = "text"
    block["classes"].append("output")
    return block


def spelled(value: object) -> str:
    """The text that shows a value: an Awkward Array as in a notebook, with its type and its first and last entries."""
    if type(value).__module__.startswith("awkward.") and hasattr(value, "show"):
        shown: str = value.show(limit_rows=8, limit_cols=92, type=True, stream=None)
        return shown
    return pprint.pformat(value, width=92, sort_dicts=False)


def picture(value: object) -> str | None:
    """HTML that shows a value, where the value is a figure, or a histogram or graph that draws itself."""
    figure = getattr(value, "figure", value)
    if type(figure).__module__.startswith("matplotlib"):
        file = io.BytesIO()
        figure.savefig(file, format="svg", bbox_inches="tight")
        data = base64.b64encode(file.getvalue()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="plot">'
    if type(value).__module__.startswith("forthwith.hist."):
        drawn: str = value._repr_html_()
        return drawn
    return None


class Run(SphinxDirective):
    """Python that is run: ``:raises:`` names an exception to expect, ``:html:`` shows a value as a notebook would.

    ``:silent:`` leaves out what is printed, and ``:hidden:`` the code, too.
    """

    has_content = True
    option_spec: ClassVar = {
        "raises": directives.unchanged,
        "html": directives.flag,
        "silent": directives.flag,
        "hidden": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """Runs the block and gives the nodes of its code and output."""
        code = "\n".join(self.content)
        where = f"{self.env.doc2path(self.env.docname)}:{self.lineno}"
        printed, value, error = page(self).run(code, where)
        wanted = self.options.get("raises")
        if error is not None and type(error).__name__ != wanted:
            LOGGER.warning("the example failed\n%s", "".join(traceback.format_exception(error)), location=where)
        if error is None and wanted:
            LOGGER.warning("the example should raise %s and did not", wanted, location=where)
        source = nodes.literal_block(code, code)
        source["language"] = "python"
        made: list[nodes.Node] = [] if "hidden" in self.options else [source]
        if error is not None:
            printed += f"{type(error).__name__}: {error}"
        html = picture(value)
        if html is None and "html" in self.options:
            html = value._repr_html_()
        if html is None and value is not None:
            printed += spelled(value)
        if "silent" in self.options:
            return made
        if printed:
            made.append(text(printed))
        if html is not None:
            kind = "drawn" if "hidden" in self.options else "output"
            made.append(nodes.raw("", f'<div class="{kind}">{html}</div>', format="html"))
        return made


class Shell(SphinxDirective):
    """Commands that are run, one a line: ``:exit:`` is the status to expect of the last one."""

    has_content = True
    option_spec: ClassVar = {"exit": directives.nonnegative_int}

    def run(self) -> list[nodes.Node]:
        """Runs each line and gives one block with the commands and what they print."""
        folder = page(self).folder
        path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "COLUMNS": "96", "NO_COLOR": "1"}
        answers = []
        for number, line in enumerate(self.content):
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            wanted = self.options.get("exit", 0) if number == len(self.content) - 1 else 0
            if done.returncode != wanted:
                where = f"{self.env.doc2path(self.env.docname)}:{self.lineno + number}"
                LOGGER.warning(
                    "exit %d instead of %d: %s\n%s", done.returncode, wanted, line, done.stdout, location=where
                )
            answers.append(f"$ {line}\n{done.stdout}")
        return [text("\n".join(answers))]


def begin(app: Sphinx) -> None:
    """Makes the folder below which each page has its own."""
    app.executed_root = tempfile.mkdtemp(prefix="forthwith-docs-")
    app.executed_pages = {}


def end(app: Sphinx, _error: Exception | None) -> None:
    """Removes what the examples wrote."""
    shutil.rmtree(app.executed_root, ignore_errors=True)


def hide(_app: Sphinx, _name: str, source: list[str]) -> None:
    """Leaves the lines out that rustdoc leaves out of Rust examples: those that begin with ``# ``."""

    def shown(block: re.Match[str]) -> str:
        lines = block.group().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("# "))

    source[0] = re.sub(r"^```rust\n.*?^```$", shown, source[0], flags=re.DOTALL | re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the directives."""
    app.add_directive("run", Run)
    app.add_directive("shell", Shell)
    app.connect("builder-inited", begin)
    app.connect("source-read", hide)
    app.connect("build-finished", end)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
