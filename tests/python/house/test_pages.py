"""The pages for those who work on the project: files, types and names that they speak of are there."""

import ast
import re
import shutil

import pytest
from conftest import SOURCES

import forthwith

pytestmark = pytest.mark.skipif(not (SOURCES / "ARCHITECTURE.md").is_file(), reason="the sources are not here")

PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "DEVELOP.md", "README.md")
FOLDERS = ("benches", "crates", "docs", "examples", "fuzz", "python", "scripts", "tests")


def sources(*folders):
    """The texts of the sources below some folders, which are not made by a build."""
    for folder in folders:
        for path in (SOURCES / folder).rglob("*"):
            made = {"target", "__pycache__", "data", "artifacts", "corpus"} & set(path.relative_to(SOURCES).parts)
            if path.suffix in (".rs", ".py", ".pyi", ".toml") and not made and path.is_file():
                yield path.relative_to(SOURCES).as_posix(), path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", (SOURCES / page).read_text())
    assert [link for link in links if "://" not in link and not (SOURCES / link).exists()] == []


def test_files_that_the_architecture_names_exist():
    """A path from the root, or the end of one: the sentence before names its folder."""
    known = {"/" + path.relative_to(SOURCES).as_posix() for folder in FOLDERS for path in (SOURCES / folder).rglob("*")}
    known |= {"/" + path.name for path in SOURCES.iterdir()}
    text = re.sub(r"```.*?```", "", (SOURCES / "ARCHITECTURE.md").read_text(), flags=re.DOTALL)
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*\.(?:rs|pyi?|md|toml)|[\w.-]+/[\w./-]*)`", text)
    assert len(named) > 30, "the pattern finds the paths no longer"
    ends = {"/" + "/".join(parts[at:]) for parts in (path[1:].split("/") for path in known) for at in range(len(parts))}
    assert sorted({name for name in named if "/" + name.rstrip("/") not in ends}) == []


def test_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    """From a checkout, as they stand; files that they name and that are not bundled are copies of one that is."""
    (tmp_path / "tests").symlink_to(SOURCES / "tests")
    for name in ("run-1.root", "run-2.root"):
        shutil.copy(SOURCES / "tests/data/zmumu.root", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(\w+)\n(.*?)```", (SOURCES / "README.md").read_text(), re.DOTALL)
    code = [text for language, text in blocks if language == "python"]
    assert len(code) == 3
    namespace = {}
    for text in code:
        exec("\n".join(line for line in text.splitlines() if "s3://" not in line), namespace)
    said = "".join(text for language, text in blocks if language == "text")
    assert capsys.readouterr().out == said


def test_public_names_are_in_the_reference():
    """The pages have a directive for each name of the package and of its modules."""
    pages = "".join(path.read_text() for path in sorted((SOURCES / "docs/reference").glob("*.md")))
    documented = {name.rpartition(".")[2] for name in re.findall(r"^\.\. auto\w+:: (\S+)", pages, re.MULTILINE)}
    modules = (forthwith, forthwith.avro, forthwith.parquet, forthwith.engines, forthwith.builders, forthwith.forth)
    # Functions that the package has by another name, machines that differ in width, errors that awkward names.
    elsewhere = {"Writer", "write", "writer", "ForthMachine32", "ForthCompileError", "ForthRunError", "__version__"}
    names = {name for module in modules for name in module.__all__}
    assert sorted(names - documented - elsewhere) == []


def test_properties_are_described_without_a_type():
    """Sphinx takes words before a colon in the first paragraph of a property for its type."""
    wrong = []
    for path, text in sources("python/forthwith"):
        for node in ast.walk(ast.parse(text)) if path.endswith(".py") else ():
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                first = (ast.get_docstring(node) or "").partition("\n\n")[0]
                is_property = any("property" in ast.unparse(one) for one in node.decorator_list)
                if is_property and re.search(r":(\s|$)", first):
                    wrong.append(f"{path}: {node.name}")
    assert wrong == []


def test_every_page_is_in_the_index():
    index = (SOURCES / "docs/index.md").read_text()
    # The page of the reference lists those below it.
    below = re.search(r"```{toctree}\n.*?```", (SOURCES / "docs/reference/python.md").read_text(), re.DOTALL)
    index += re.sub(r"^(?=\w)", "reference/", below.group(), flags=re.MULTILINE)
    pages = {path.relative_to(SOURCES / "docs").with_suffix("").as_posix() for path in (SOURCES / "docs").rglob("*.md")}
    listed = {line for block in re.findall(r"```{toctree}\n(.*?)```", index, re.DOTALL) for line in block.splitlines()}
    assert sorted(pages - listed - {"index"}) == []


def test_no_two_pages_have_one_title():
    """The guide leads to the pages in `details`, which say all of one subject: their titles tell which of both a page is."""
    titles = {}
    for path in (SOURCES / "docs").rglob("*.md"):
        titles.setdefault(path.read_text().partition("\n")[0].lower(), []).append(path.name)
    assert len(titles) > 40
    assert {title: names for title, names in titles.items() if len(names) > 1} == {}


def test_names_in_the_walks_exist():
    """Functions, types and tables that CONTRIBUTING.md tells to change are in the sources, or in an example of a name."""
    walks = (SOURCES / "CONTRIBUTING.md").read_text().partition("## Add a codec")[2]
    named = {name.rpartition("::")[2] for name in re.findall(r"`([A-Za-z_][\w:]*)(?:!|\(\))?`", walks)}
    assert len(named) > 80, "the pattern finds the names no longer"
    words = set()
    for _, text in sources("crates", "python", "tests", "fuzz"):
        words.update(re.findall(r"\w+", text))
    assert sorted(named - words) == []


def test_types_in_the_architecture_are_of_their_crates():
    """`crate::Name` is public in that crate, or one of its variants, functions or modules."""
    crates = {path.parent.name for path in SOURCES.glob("crates/*/Cargo.toml")}
    words = {}
    for name, text in sources("crates"):
        made = re.findall(r"\b(?:struct|enum|trait|fn|type|mod|const|union|pub use [\w:{, ]*)\s*(\w+)", text)
        words.setdefault(name.split("/")[1], set()).update(made)
        words[name.split("/")[1]].update(re.findall(r"\b[A-Z]\w+", " ".join(re.findall(r"pub use [^;]+;", text))))
    text = (SOURCES / "ARCHITECTURE.md").read_text()
    named = [name.split("::") for name in re.findall(r"`([a-z]\w*::[\w:]+)`", text)]
    ours = [parts for parts in named if parts[0] in crates]
    assert len(ours) > 40, "the pattern finds the types no longer"
    assert sorted({"::".join(parts) for parts in ours if parts[1] not in words[parts[0]]}) == []
