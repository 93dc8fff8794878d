"""Files are closed with the last thing that needs them, and not when garbage is collected at some later time."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from conftest import data

import forthwith

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILES = [data("zmumu.root"), data("avro/types.avro"), data("parquet/plain.parquet")]


@pytest.fixture(autouse=True)
def _no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def tree_of(opened: Any) -> Any:
    return opened["events"] if isinstance(opened, forthwith.File) else opened


USES: dict[str, Callable[[Any], object]] = {
    "nothing": lambda tree: None,
    "names": lambda tree: (tree.keys(), tree.typenames(), list(tree), tree.get("no such")),
    "arrays": lambda tree: tree.arrays(tree.keys()[:2], library="np"),
    "array": lambda tree: tree[tree.keys()[0]].array(),
    "steps": lambda tree: list(tree.iterate(tree.keys()[0], step_size=100)),
    "first step": lambda tree: next(iter(tree.iterate(tree.keys()[0], step_size=100))),
    "selection": lambda tree: (tree.select(tree.keys()[0]).keys(), tree.select(tree.keys()[0]).num_entries),
    "explain": lambda tree: (tree.explain(), repr(tree), tree.file.keys()),
    "error": lambda tree: "no such" in tree,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("path", FILES)
def test_a_file_goes_with_its_last_name(path: str, use: str) -> None:
    tree = tree_of(forthwith.open(path))
    gone = weakref.ref(tree.file)
    made = USES[use](tree)
    assert gone() is tree.file
    del tree
    assert gone() is None
    del made


def test_a_branch_and_a_directory_keep_their_file() -> None:
    branch = forthwith.open(FILES[0])["events"]["MET_pt"]
    gone = weakref.ref(branch.file)
    assert len(branch.array()) == branch.tree.num_entries
    del branch
    assert gone() is None
    directory = forthwith.open(data("trees.root"))
    gone = weakref.ref(directory)
    inner = next(iter(directory.values()))
    del directory
    assert gone() is inner.file
    del inner
    assert gone() is None


def test_a_chain_holds_no_file_that_was_read() -> None:
    # Files of other tests in this process do not count.
    others = [one for one in gc.get_objects() if isinstance(one, forthwith.File)]
    known = set(map(id, others))
    chain = forthwith.open([f"{FILES[0]}:events"] * 3)
    chain.arrays("MET_pt")
    held = [one for one in gc.get_objects() if isinstance(one, forthwith.File) and id(one) not in known]
    assert len(held) <= 1
