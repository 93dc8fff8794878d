"""Arrays of objects of one class, and a class that points to itself, as C++ ROOT reads them from branches."""

import json
import pathlib

import pytest
from conftest import data

import forthwith

GOLDEN = json.loads(pathlib.Path(data("clones.root.values.json")).read_text())
LINKED = "clones/list"


@pytest.mark.parametrize("name", [name for name in GOLDEN if name != LINKED])
def test_arrays_are_what_root_reads(name):
    file, _, branch = name.partition("/")
    with forthwith.open(data(f"{file}.root")) as opened:
        assert opened["t"][branch].array().to_list() == GOLDEN[name]


def test_a_class_that_points_to_itself_is_refused_where_it_does():
    wanted = GOLDEN[LINKED]
    linked = [at for at, entry in enumerate(wanted) if entry["next"]]
    with forthwith.open(data("clones.root")) as file:
        branch = file["t/list"]
        with pytest.raises(forthwith.UnsupportedError, match="Link, which contains itself") as caught:
            branch.array()
        assert caught.value.entry == linked[0]
        # Null pointers are read, and entries without others may be asked for by themselves.
        assert branch.array(entry_stop=linked[0]).to_list() == wanted[: linked[0]]
        lost = []
        left = branch.array(errors="skip", lost=lost).to_list()
    assert left == [entry for entry in wanted if not entry["next"]]
    assert [(loss.start, loss.stop) for loss in lost] == [(at, at + 1) for at in linked]
