"""What notebooks show: folded, escaped, and of a bounded size."""

import html.parser

import numpy as np
import pytest
from conftest import data

import forthwith

VOID = {"circle", "path", "rect", "line", "br", "img", "polyline", "polygon"}


class Checker(html.parser.HTMLParser):
    """Tags that close in their order, and no scripts."""

    def __init__(self):
        super().__init__()
        self.open, self.deepest, self.summaries = [], 0, 0

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "iframe", "object")
        assert not any(name.startswith("on") for name, _ in attrs)
        self.summaries += tag == "summary"
        if tag not in VOID:
            self.open.append(tag)
        self.deepest = max(self.deepest, self.open.count("details"))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(thing):
    text = thing._repr_html_()
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert len(text.encode()) < 200_000
    return text, checker


def test_directories_and_branches_are_folded(tmp_path):
    with forthwith.recreate(tmp_path / "deep.root") as file:
        file["a/b/c/h"] = np.histogram(np.arange(5.0), bins=2)
        file["a/other"] = np.histogram(np.arange(5.0), bins=2)
        file["z"] = {"x": [1, 2]}
    with forthwith.open(tmp_path / "deep.root") as file:
        text, checker = checked(file)
        assert checker.deepest == 4
        assert text.index("a/b/c/h;1") < text.index("a/other;1") < text.index("z;1")
        checked(file["a"])
        checked(file["z"])
        checked(file["z"]["x"])
        checked(file["a/other"])
    with forthwith.open(data("containers.root")) as file:
        trees = [file[name] for name in file.keys(filter_classname="TTree")]
        assert max(checked(tree)[1].deepest for tree in trees) > 1


def test_names_are_escaped(tmp_path):
    name = "<script>alert(1)</script>&\"'"
    with forthwith.recreate(tmp_path / "names.root") as file:
        file.mktree("tree", {name.replace("/", "_"): "f4"}, title=name)
    with forthwith.open(tmp_path / "names.root") as file:
        for thing in (file, file["tree"]):
            text, _ = checked(thing)
            assert "<script" not in text


@pytest.mark.parametrize("title", ["", "é" * 400])
def test_many_branches_are_cut(tmp_path, title):
    with forthwith.recreate(tmp_path / "wide.root") as file:
        file.mktree("tree", {f"branch_{number}{title[:200]}": "f4" for number in range(10_000)}, title=title)
    with forthwith.open(tmp_path / "wide.root") as file:
        text, _ = checked(file["tree"])
        assert "more</p>" in text
        assert "branch_0" in text


def test_histograms_of_many_bins_are_bounded(tmp_path):
    with forthwith.recreate(tmp_path / "bins.root") as file:
        file["one"] = (np.arange(100_000.0), np.arange(100_001.0))
        file["two"] = (np.ones((400, 300)), np.arange(401.0), np.arange(301.0))
    with forthwith.open(tmp_path / "bins.root") as file:
        assert "<svg" in checked(file["one"])[0]
        assert "<svg" in checked(file["two"])[0]
