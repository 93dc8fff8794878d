"""Classes that contain themselves by way of others, and arrays of ROOT's own classes, as C++ ROOT reads them."""

import json

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("rounds.root.values.json")
# A member of the class that contains itself.
ROUNDS = {
    "rounds/sack": "bags",
    "rounds/tick": "tock",
    "rounds/floor": "rooms",
    "rounds/group": "of",
    "rounds/shapes": "of",
    "rounds/first": "second",
}
NAMES = [name for name in GOLDEN if name.startswith("rounds-names/") and not name.endswith("/mixed")]


def plain(array):
    """Lists where Python has tuples."""
    return json.loads(json.dumps(array.to_list()))


def levels(value, member):
    """How many objects that have this member are within each other."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    inner = max((levels(item, member) for item in items), default=0)
    return inner + (isinstance(value, dict) and member in value)


def nodes(form):
    """How many nodes a form has, as a dict."""
    inner = [form[key] for key in ("content", "contents") if key in form]
    return 1 + sum(nodes(item) for part in inner for item in (part if isinstance(part, list) else [part]))


def compare(name, member, most, said):
    """What has not too many levels is what ROOT reads; the others are errors that say how many levels of a class there are."""
    file, _, branch = name.partition("/")
    wanted = GOLDEN[name]
    deeper = [at for at, entry in enumerate(wanted) if levels(entry, member) > most]
    with forthwith.open(data(f"{file}.root")) as opened:
        branch = opened["t"][branch]
        if deeper:
            message = f"which contains itself, more than {said} levels deep"
            with pytest.raises(forthwith.UnsupportedError, match=message) as caught:
                branch.array()
            assert caught.value.entry == deeper[0]
        left = branch.array(errors="null", lost=[])
    assert plain(left) == [None if at in deeper else entry for at, entry in enumerate(wanted)]
    return left


@pytest.mark.parametrize("name", ROUNDS)
def test_classes_that_contain_themselves_by_way_of_others_have_four_levels(name):
    compare(name, ROUNDS[name], 4, 4)


def test_members_of_a_divided_object_may_lead_back():
    wanted = GOLDEN["rounds/split."]
    with forthwith.open(data("rounds.root")) as file:
        tree = file["t"]
        found = [tree[key].array() for key in tree if key.split("/")[-1] in ("bags.sacks", "split.bags.sacks")]
    assert [plain(sacks) for sacks in found] == [[[bag["sacks"] for bag in entry["bags"]] for entry in wanted]]


@pytest.mark.parametrize("name", ["rounds-tangle/even", "rounds-tangle/other"])
def test_there_are_fewer_levels_where_four_would_be_too_much(name):
    # Each object has four pointers to others that have four: two levels of both are 85 objects, three would be 1365.
    found = compare(name, "v", 4, 2)
    assert 400 < nodes(found.layout.form.to_dict()) < 4000


def test_what_is_behind_too_many_pointers_is_an_error_where_it_is_met():
    # Each of 18 classes has a pointer to each: there are more orders of them than members that can be.
    wanted = GOLDEN["rounds-tangle/knot"]
    deeper = [at for at, entry in enumerate(wanted) if levels(entry, "v") > 2]
    assert deeper
    with forthwith.open(data("rounds-tangle.root")) as file:
        branch = file["t/knot"]
        message = (
            "Knot7 behind more than 1 list or pointer, because all classes behind it expand to more than 20000 members"
        )
        with pytest.raises(forthwith.UnsupportedError, match=message) as caught:
            branch.array()
        assert caught.value.entry == deeper[0]
        found = branch.array(errors="null", lost=[])
    assert plain(found) == [None if at in deeper else entry for at, entry in enumerate(wanted)]
    assert nodes(found.layout.form.to_dict()) < 4000


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_roots_own_beside_one_other_class_are_what_root_reads(name):
    with forthwith.open(data("rounds-names.root")) as file:
        found = file["t"][name.split("/")[1]].array()
    assert plain(found) == GOLDEN[name]


def test_arrays_have_no_other_types():
    # A class that the data do not name is not in the type.
    with forthwith.open(data("rounds-names.root")) as file:
        types = {name: str(file["t"][name].array().type.content) for name in ("inner", "own", "strings")}
    assert types["inner"] == "var * Inner[a: int32]"
    assert types["own"] == "var * union[Inner[a: int32], TNamed[fName: string, fTitle: string]]"
    assert types["strings"] == "var * union[Inner[a: int32], TObjString[fString: string]]"


def test_what_only_later_baskets_name_is_an_error():
    wanted = GOLDEN["rounds-names/mixed"]
    with forthwith.open(data("rounds-names.root")) as file:
        branch = file["t/mixed"]
        with pytest.raises(forthwith.UnsupportedError, match="of a class that the file does not describe") as caught:
            branch.array()
        assert caught.value.entry == len(wanted) - 1
        assert plain(branch.array(entry_stop=len(wanted) - 1)) == wanted[:-1]


def owner(value):
    """Owners as numbers, as in the golden, which cannot have circles."""
    items = [{**item, "owner": item["owner"] and item["owner"]["v"]} for item in value["all"]]
    return {**value, "all": items}


def test_pointers_back_lead_to_what_is_there():
    with forthwith.open(data("rounds.root")) as file:
        assert [owner(entry) for entry in plain(file["t/owner"].array())] == GOLDEN["rounds/owner"]


def test_a_pointer_to_what_it_is_within_is_an_error():
    with forthwith.open(data("rounds.root")) as file:
        lost = []
        found = plain(file["t/back"].array(errors="null", lost=lost))
    circles = [at for at, entry in enumerate(GOLDEN["rounds/back"]) if any(item["owner"] for item in entry["all"])]
    assert [at for at, entry in enumerate(found) if entry is None] == circles == [3]
    assert "a pointer to an object" in str(lost[0])
