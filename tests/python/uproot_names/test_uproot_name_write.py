"""Writing by uproot's name: names of branches, values of other types, and histograms by their members, beside uproot."""

import inspect
import random

import numpy as np
import pytest

from forthwith import uproot

ak = pytest.importorskip("awkward")
real = pytest.importorskip("uproot")

IDENTIFY = uproot.writing.identify
HISTOGRAMS = ("to_TH1x", "to_TH2x", "to_TH3x", "to_TProfile", "to_TProfile2D", "to_TProfile3D")
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool")


def column(choose, entries):
    """A random column and its type: numbers, arrays, lists, records, lists of records, or texts."""
    kind = choose.choice(NUMBERS)
    counts = [choose.randint(0, 3) for _ in range(entries)]

    def numbers(count):
        return ak.values_astype(ak.Array(np.array([choose.randint(0, 1) for _ in range(count)], "i8")), kind)

    items = sum(counts)
    records = ak.unflatten(ak.zip({"a": numbers(items), "b": ak.Array(np.arange(items) * 1.5)}), counts)
    return choose.choice(
        [
            lambda: (np.asarray(numbers(entries)), kind),
            lambda: (np.asarray(numbers(2 * entries)).reshape(entries, 2), (kind, (2,))),
            lambda: (ak.unflatten(numbers(items), counts), f"var * {kind}"),
            lambda: (ak.zip({"a": numbers(entries), "b": numbers(entries)}), f"{{a: {kind}, b: {kind}}}"),
            lambda: (records, choose.choice([records.type, records.type.content, str(records.type.content)])),
            lambda: (ak.Array([choose.choice(["", "ab", "x" * 300, "é"]) for _ in range(entries)]), "string"),
        ]
    )()


def test_trees_have_the_branches_that_uproot_makes(tmp_path):
    choose = random.Random(20)
    for _ in range(25):
        entries = choose.randint(1, 5)
        columns = {f"c{at}": column(choose, entries) for at in range(choose.randint(1, 4))}
        columns[choose.choice(["", "r"])] = (
            ak.zip({"x": np.arange(entries), "y": np.ones(entries)}),
            "{x: int64, y: float64}",
        )
        options = {}
        if choose.random() < 0.4:
            options["field_name"] = lambda outer, inner: f"{outer}.{inner}" if outer else inner
        if choose.random() < 0.4:
            options["counter_name"] = lambda counted: f"count_{counted}"
        first = choose.random() < 0.3
        found = []
        for module in (uproot, real):
            path = tmp_path / "a.root"
            with module.recreate(path) as file:
                tree = file.mktree(
                    "t", {name: pair[0] if first else pair[1] for name, pair in columns.items()}, **options
                )
                tree.extend({name: array for name, (array, _) in columns.items()})
                known = tree.object_path, tree.path, tree.num_entries
            with real.open(path) as file:
                tree = file["t"]
                values = {name: tree[name].array().to_list() for name in sorted(tree.keys())}
                found.append((known, values, {name: tree[name].typename for name in values}))
        assert found[0] == found[1]


def test_records_are_flat_wherever_they_come_from(tmp_path):
    rows = [{"a": 1, "b": {"c": 2.5}}, {"a": 3, "b": {"c": 4.5}}]
    structured = np.array([(1, 2.5), (3, 4.5)], [("a", "i8"), ("c", "f8")])
    path = tmp_path / "a.root"
    for given, names in [
        ({"r": ak.Array(rows)}, ["r_a", "r_b_c"]),
        (ak.Array([{"r": row} for row in rows]), ["r_a", "r_b_c"]),
        ({"r": rows}, ["r_a", "r_b_c"]),
        ({"r": structured}, ["r_a", "r_c"]),
        ({"": structured, "z": [1, 2]}, ["a", "c", "z"]),
        (structured, ["a", "c"]),
    ]:
        with uproot.recreate(path) as file:
            tree = file.mktree("t", given)
            tree.extend(given)
            assert list(tree.columns) == names
        with uproot.open(path) as file:
            assert file["t"].keys() == names
            assert file["t"].arrays(library="np")[names[0]].tolist() == [1, 3, 1, 3]
        with uproot.update(path) as file:
            file["t"].extend(given)
            assert file["t"].object_path == "/t/"
        assert len(uproot.open(path)["t"].arrays()) == 6
    with uproot.recreate(path) as file:
        file.mktree("t", {"r": ak.Array(rows)}, records="class")
    assert uproot.open(path)["t"].keys(recursive=False) == ["r."]


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
@pytest.mark.parametrize(
    ("type_", "values", "wrong"),
    [
        ("int32", np.array([1.0, -2.0]), [0.5, np.nan, np.inf, 2.0**31]),
        ("uint64", np.array([0.0, 2.0**63]), [-1.0, 2.0**64]),
        ("int64", np.array([-(2.0**63), 2.0**53]), [2.0**63]),
        ("bool", np.array([1, 0]), [2, 0.5, -1]),
        ("bool", [1.0, 0.0], [2]),
        ("int8", [127.0, -128.0], [128.0, -129.0]),
        ("float64", np.array([True, False]), []),
        ("int16", np.array([True, False]), []),
    ],
)
def test_numbers_are_those_of_the_column_where_they_fit(tmp_path, kind, type_, values, wrong):
    path = tmp_path / "a.root"
    lists = f"var * {type_}"
    with uproot.recreate(path) as file:
        table = getattr(file, kind)("t", {"x": type_, "y": lists})
        table.extend({"x": values, "y": ak.Array([values, []])})
        for one in wrong:
            for bad in ({"x": np.array([one, 0]), "y": [[], []]}, {"x": [0, 0], "y": ak.Array([[], [one]])}):
                with pytest.raises(TypeError, match="which cannot hold"):
                    table.extend(bad)
        assert table.num_entries == 2
    with uproot.open(path) as file:
        array = file["t"].arrays()
        assert str(array.x.type) == f"2 * {type_}"
        assert array.x.to_list() == np.asarray(values).astype(type_).tolist() == array.y.to_list()[0]


def histogram(module, name, seed):
    """A random histogram by its members."""
    choose = np.random.default_rng(seed)
    identify = module.writing.identify
    axes = {"to_TProfile": 1}.get(name) or int(next(one for one in name if one.isdigit()))
    bins = [int(choose.integers(1, 4)) for _ in range(axes)]
    cells = int(np.prod([count + 2 for count in bins]))
    given = {}
    for parameter in inspect.signature(getattr(identify, name)).parameters.values():
        at = "XYZ".find(parameter.name[1])
        if parameter.name == "data":
            kind = "f8" if "Profile" in name else choose.choice(["i1", "i2", "i4", "f4", ">f8"])
            given["data"] = (choose.random(cells) * 100).astype(kind)
            given["data"] = identify.to_TArray(given["data"]) if choose.random() < 0.3 else given["data"]
        elif parameter.name.endswith("axis"):
            if at < axes:
                more = {"fXbins": np.arange(bins[at] + 1.0) ** 2} if choose.random() < 0.3 else {"fTitleOffset": 1.5}
                given[parameter.name] = identify.to_TAxis(f"{'xyz'[at]}axis", "title", bins[at], 0.0, 9.0, **more)
        elif parameter.name in ("fSumw2", "fBinEntries", "fBinSumw2"):
            given[parameter.name] = choose.random(cells)
        elif parameter.name == "fFunctions":
            given[parameter.name] = [identify.to_TObjString("f")]
        elif parameter.default is inspect.Parameter.empty:
            given[parameter.name] = "text" if parameter.name in ("fName", "fTitle") else float(choose.random())
    return getattr(identify, name)(**given)


def members(value):
    """The members of an object of uproot, without identifiers and bits."""
    if isinstance(value, real.Model):
        found = {name: members(one) for name, one in value.all_members.items() if not name.startswith("@")}
        inside = list(value) if isinstance(value, str) or hasattr(value, "__len__") else []
        return value.classname, found, [str(one) if isinstance(one, str) else members(one) for one in inside]
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize("name", HISTOGRAMS)
def test_histograms_by_their_members_are_those_of_uproot(tmp_path, name):
    assert str(inspect.signature(getattr(IDENTIFY, name))) == str(
        inspect.signature(getattr(real.writing.identify, name))
    )
    for seed in range(3):
        found = []
        for module in (uproot, real):
            path = tmp_path / "a.root"
            with module.recreate(path) as file:
                file["dir/h"] = histogram(module, name, seed)
            with real.open(path) as file:
                found.append((file.classnames(), file.key("dir/h").fTitle, repr(members(file["dir/h"]))))
        assert found[0] == found[1]


def test_parts_of_histograms_of_files_and_labels(tmp_path):
    path = tmp_path / "a.root"
    labels = IDENTIFY.to_THashList([IDENTIFY.to_TObjString(text) for text in "ab"])
    axis = IDENTIFY.to_TAxis("xaxis", "title", 2, 0.0, 2.0, fLabels=labels)
    given = {"data": np.arange(4.0), "fSumw2": None, "fEntries": 3}
    sums = dict.fromkeys(("fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"), 1.0)
    with uproot.recreate(path) as file:
        file["h"] = IDENTIFY.to_TH1x(None, "first", fXaxis=axis, **given, **sums)
    with uproot.open(path) as file:
        assert file["h"].axis().labels() == ["a", "b"]
        assert (file["h"].name, file["h"].title) == ("h", "first")
        again = IDENTIFY.to_TH1x("x", "second", fXaxis=file["h"].member("fXaxis"), **given, **sums)
        assert again.member("fXaxis").member("fTitle") == "title"
        with uproot.recreate(tmp_path / "b.root") as other:
            other["h2"] = again
    with uproot.open(tmp_path / "b.root") as file:
        assert file["h2"].axis().labels() == ["a", "b"]
        assert file["h2"].values(flow=True).tolist() == [0, 1, 2, 3]
    for wrong in (
        {"data": np.zeros((2, 2))},
        {"data": np.zeros(3, "u4")},
        {"data": np.zeros(3, "i8")},
        {"fSumw2": np.zeros(4, "i4")},
    ):
        with pytest.raises((ValueError, TypeError)):
            IDENTIFY.to_TH1x(None, "", fXaxis=axis, **{**given, **wrong}, **sums)
    with pytest.raises(TypeError, match="fXaxis"):
        IDENTIFY.to_TH1x(None, "", **given, **sums)


def test_files_that_are_left_open_are_complete_when_nothing_holds_them(tmp_path):
    path = tmp_path / "a.root"
    file = uproot.recreate(path)
    tree = file.mktree("t", {"x": "f8"}, field_name=lambda outer, inner: inner)
    del file
    tree.extend({"x": [1.0]})
    tree.file["t"].extend({"x": [2.0]})
    assert (tree.file["t"].num_entries, tree.file.closed, path.exists()) == (2, False, False)
    # Not when garbage is collected, but at once.
    del tree
    assert uproot.open(path)["t/x"].array().tolist() == [1.0, 2.0]
    with uproot.recreate(path) as file, file.mktree("t", {"x": "f8"}) as tree:
        tree.extend({"x": [1.0]})
    with pytest.raises(ValueError, match="closed"):
        tree.extend({"x": [1.0]})


def test_objects_that_several_members_lead_to_are_one(tmp_path):
    with uproot.recreate(tmp_path / "a.root") as file:
        jagged = ak.Array([[1, 2], []])
        file.mktree("t", {"r": ak.zip({"a": jagged, "b": jagged}), "c": jagged})
    with uproot.open(tmp_path / "a.root") as file:
        tree = file["t"]
        counters = [tree[name].member("fLeaves")[0].member("fLeafCount") for name in ("r_a", "r_b", "c")]
        assert counters[0] is counters[1]
        assert counters[0] is not counters[2]


def test_histograms_of_as_many_axes_as_are_given():
    first, second = IDENTIFY.to_TAxis("xaxis", "", 3, 0.0, 1.0), IDENTIFY.to_TAxis("yaxis", "", 2, 0.0, 1.0)
    sums = dict.fromkeys(("fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"), 1.0)
    given = {"fName": "h", "fTitle": "", "data": np.arange(20.0), "fEntries": 1.0, "fSumw2": None, "fXaxis": first}
    assert IDENTIFY.to_THNx(**given, **sums)["_typename"] == "TH1D"
    sums.update(dict.fromkeys(("fTsumwy", "fTsumwy2", "fTsumwxy"), 1.0))
    assert IDENTIFY.to_THNx(**given, **sums, fYaxis=second)["_typename"] == "TH2D"
    with pytest.raises(TypeError, match="axes by name"):
        IDENTIFY.to_THNx("h", "", np.arange(5.0))
