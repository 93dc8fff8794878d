"""RNTuples merged and copied with a choice of fields and entries: forthwith and C++ ROOT read what the files had."""

import json
import random
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from conftest import TESTS
from root_judge import by_root, has_root

import forthwith

DATA = TESTS / "data" / "rntuple"

# What cannot be copied, and why.
REFUSED = {"attributes-none.root": "attribute sets", "attributes-zstd.root": "attribute sets"}

# Prints each entry of an RNTuple as C++ ROOT shows it.
SHOW = """
ROOT.gErrorIgnoreLevel = ROOT.kFatal
shown = []
for path, name, wanted in json.load(open(sys.argv[1])):
    try:
        reader = ROOT.RNTupleReader.Open(name, path)
        entries = []
        for entry in range(reader.GetNEntries()) if wanted is None else wanted:
            text = ROOT.std.ostringstream()
            reader.Show(entry, text)
            entries.append(str(text.str()))
        shown.append(entries)
    except Exception as error:
        shown.append("error: " + str(error).splitlines()[0])
print(json.dumps(shown))
"""


def ntuples(path):
    with forthwith.open(path) as file:
        return [key.split(";")[0] for key, kind in file.classnames().items() if kind == "ROOT::RNTuple"]


def values(path, name):
    """The values of each field at the top that can be read."""
    found = {}
    with forthwith.open(path) as file:
        for branch in file[name].values(recursive=False):
            try:
                found[branch.path] = ak.to_list(branch.array())
            except forthwith.UnsupportedError:
                continue
    return found


def sound(path):
    """Nothing in the file contradicts anything else."""
    done = subprocess.run(
        [sys.executable, "-m", "forthwith", "check", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def shown_by_root(asked, folder):
    """What C++ ROOT shows of the entries of RNTuples."""
    question = folder / "asked.json"
    question.write_text(json.dumps(asked))
    return by_root(SHOW, question, seconds=600)


def choices(rng, count):
    """Entries of several kinds, and their numbers."""
    first, last = sorted(rng.sample(range(count + 1), 2)) if count else (0, 0)
    some = sorted(rng.sample(range(count), count // 2))
    mask = np.zeros(count, bool)
    mask[some] = True
    return [(None, range(count)), (slice(first, last), range(first, last)), (mask, some), (some[:1], some[:1])]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.name for path in DATA.glob("*.root")))
def test_chosen_entries_have_what_the_file_has(name, tmp_path):
    """All that C++ ROOT wrote: late fields, several representations, streamed objects, projections, groups."""
    source, rng = DATA / name, random.Random(name)
    if name in REFUSED:
        with pytest.raises(forthwith.UnsupportedError, match=REFUSED[name]):
            forthwith.merge(source, tmp_path / "out.root", entries=slice(1, 2))
        return
    for table in ntuples(source):
        with forthwith.open(source) as file:
            entries = file[table].num_entries
        own, asked, expected = values(source, table), [], []
        for times in (1, 2):
            for number, (chosen, picked) in enumerate(choices(rng, entries * times)):
                if (times, number) in ((1, 0), (1, 3), (2, 1)):
                    continue
                out = tmp_path / f"{table.replace('/', '-')}-{times}-{number}.root"
                codec = rng.choice(["default", "default", "lz4", None])
                done = forthwith.merge([source] * times, out, entries=chosen, compression=codec, filter_object=table)
                assert done == {table: len(picked)}
                copied = values(out, table)
                assert copied.keys() == own.keys()
                for field, wanted in own.items():
                    assert repr(copied[field]) == repr([(wanted * times)[at] for at in picked]), (field, chosen)
                if times == 2 and number == 2:
                    sound(out)
                asked.append((str(out), table, None))
                expected.append([at % entries for at in picked])
        if not has_root():
            continue
        before, *shown = shown_by_root([(str(source), table, None), *asked], tmp_path)
        for entries_shown, picked in zip(shown, expected, strict=True):
            # C++ ROOT shows nothing of files whose pages are in several records.
            if not isinstance(before, str):
                assert entries_shown == [before[at] for at in picked]


def write(path, rows=5000, first=0, **options):
    """An RNTuple with fields of most kinds, and one that is added late."""
    rng = np.random.default_rng(first)
    counts = rng.integers(0, 4, rows)
    columns = {
        "n": np.arange(first, first + rows, dtype=np.int32),
        "flag": rng.random(rows) < 0.5,
        "jets": ak.zip(
            {name: ak.unflatten(rng.random(int(counts.sum())), counts) for name in ("pt", "eta")}, depth_limit=1
        ),
        "hits": ak.zip({name: ak.unflatten(rng.random(int(counts.sum())), counts) for name in ("x", "y")}),
        "text": ak.Array(["t" * int(count) for count in counts]),
        "maybe": ak.from_iter([None if count == 0 else float(count) for count in counts]),
    }
    with forthwith.recreate(path) as file:
        half = {name: column[: rows // 2] for name, column in columns.items()}
        table = file.mkrntuple("events", half, projections={"sizes": "#hits", "hit_x": "hits.x"}, **options)
        table.add_fields({"late": "float32", "names": "var * string"})
        columns |= {"late": rng.random(rows).astype(np.float32), "names": ak.Array([["a"] * int(n) for n in counts])}
        table.extend({name: column[rows // 2 :] for name, column in columns.items()})
    return columns


def test_fields_are_chosen_with_those_they_show(tmp_path):
    write(tmp_path / "in.root")
    own = values(tmp_path / "in.root", "events")
    out = tmp_path / "out.root"
    for wanted, kept in [
        ("n", {"n"}),
        ("late", {"late"}),
        (["flag", "names"], {"flag", "names"}),
        ("hit_x", {"hit_x", "hits"}),
        ("sizes", {"sizes", "hits"}),
        (lambda name: name != "hits", set(own)),
        ("none_of_them", set()),
    ]:
        for entries, picked in choices(random.Random(str(wanted)), 5000):
            forthwith.merge(tmp_path / "in.root", out, filter_name=wanted, entries=entries)
            copied = values(out, "events")
            assert set(copied) == kept
            for name in kept:
                assert repr(copied[name]) == repr([own[name][at] for at in picked])


def test_members_are_copied_with_their_field(tmp_path):
    write(tmp_path / "in.root", 100)
    command = [sys.executable, "-W", "ignore", "-m", "forthwith", "cp", "--force", "--columns"]
    for wanted, kept in [("hits/x,hits/y", {"hits"}), ("n,hits/*", {"n", "hits"}), ("hits/x", None)]:
        files = [tmp_path / "in.root", tmp_path / "out.root"]
        done = subprocess.run([*command, wanted, *files], capture_output=True, text=True, check=False)
        if kept is None:
            assert done.returncode
            assert "1 of the 2 members of a field without the others" in done.stderr
        else:
            assert done.returncode == 0, done.stderr
            assert set(values(tmp_path / "out.root", "events")) == kept


def test_files_of_other_fields_are_merged_by_those_they_share(tmp_path):
    write(tmp_path / "one.root", 100)
    with forthwith.recreate(tmp_path / "two.root") as file:
        table = file.mkrntuple("events", {"flag": "bool", "other": "int64", "n": "int32"})
        table.extend({"flag": [True] * 3, "other": [1, 2, 3], "n": np.arange(100, 103, dtype=np.int32)})
    both, out = [tmp_path / "one.root", tmp_path / "two.root"], tmp_path / "out.root"
    with pytest.raises(forthwith.RequestError, match="unequal fields"):
        forthwith.merge(both, out)
    assert forthwith.merge(both, out, filter_name="flag", entries=slice(99, 102)) == {"events": 3}
    assert values(out, "events")["flag"][1:] == [True, True]
    with pytest.raises(forthwith.RequestError, match="unequal fields"):
        # The order of fields is another one.
        forthwith.merge(both, out, common=True)
    assert forthwith.merge(both, out, common=True, filter_name="n") == {"events": 103}
    assert values(out, "events")["n"] == list(range(103))


def test_fields_that_were_added_late_follow_others(tmp_path):
    """The second file begins without them, behind entries of the first that have them."""
    parts = [write(tmp_path / f"{seed}.root", 400, seed, cluster_entries=90, page_size=256) for seed in (0, 400, 800)]
    out = tmp_path / "out.root"
    paths = [tmp_path / f"{seed}.root" for seed in (0, 400, 800)]
    for codec in ("default", None, "zstd"):
        assert forthwith.merge(paths, out, compression=codec) == {"events": 1200}
        sound(out)
        with forthwith.open(out) as file:
            late = file["events"]["late"].array(library="np")
        expected = np.concatenate([np.concatenate([np.zeros(200), part["late"][200:]]) for part in parts])
        assert (late == expected.astype(np.float32)).all()
        again = tmp_path / "again.root"
        forthwith.merge(out, again, entries=np.arange(1, 1200, 2))
        with forthwith.open(again) as file:
            assert (file["events"]["late"].array(library="np") == late[1::2]).all()
    with forthwith.update(out) as file:
        file["events"].extend({name: column[:3] for name, column in parts[0].items()})
    assert values(out, "events")["n"][-4:] == [1199, 0, 1, 2]
    if has_root():
        one, two = shown_by_root(
            [(str(paths[1]), "events", None), (str(out), "events", list(range(400, 800)))], tmp_path
        )
        assert one == two


def test_a_file_is_split_by_entries(tmp_path):
    columns = write(tmp_path / "in.root", 1000, cluster_entries=300)
    command = [sys.executable, "-W", "ignore", "-m", "forthwith", "split"]
    done = subprocess.run([*command, "in.root", "part.root", "--entries", "350"], cwd=tmp_path, check=False,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    parts = [values(tmp_path / f"part-{number}.root", "events") for number in (1, 2, 3)]
    assert [len(part["n"]) for part in parts] == [350, 350, 300]
    for name in ("n", "text", "flag"):
        assert [value for part in parts for value in part[name]] == ak.to_list(columns[name])
    command[-1:] = ["cp", "in.root", "some.root", "--where", "n % 7 == 3"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    assert values(tmp_path / "some.root", "events")["n"] == list(range(3, 1000, 7))


def test_quantised_numbers_have_no_zero_to_begin_with(tmp_path):
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    with forthwith.recreate(path) as file:
        table = file.mkrntuple("events", {"n": np.arange(10)}, cluster_entries=5)
        table.add_fields({"q": "float32"}, fields={"q": {"floats": ("quantised", 8, 1.0, 2.0)}})
        table.extend({"n": np.arange(10, 20), "q": np.full(10, 1.0, np.float32)})
    with pytest.raises(forthwith.UnsupportedError, match="quantised numbers"):
        forthwith.merge([path, path], out)
    with pytest.raises(forthwith.UnsupportedError, match="quantised numbers"):
        forthwith.merge(path, out, entries=slice(7, 12))
    assert not out.exists()
    assert forthwith.merge(path, out, entries=slice(12, None)) == {"events": 8}
    assert values(out, "events") == {"n": list(range(12, 20)), "q": [1.0] * 8}


def test_damaged_pages_are_named(tmp_path):
    """A byte of each page is changed: every copy that needs it fails, and leaves no file."""
    path, out = tmp_path / "in.root", tmp_path / "out.root"
    write(path, 300, compression=None, cluster_entries=100)
    before = path.read_bytes()
    with forthwith.open(path) as file:
        groups = file["events"].descriptor()["groups"]
    pages = [page for group in groups for cluster in group["clusters"] for column in cluster["columns"] if column
             for page in column["pages"]]  # fmt: skip
    assert len(pages) > 20
    for _, position, size, _ in pages:
        if not size:
            continue
        damaged = bytearray(before)
        damaged[position + size // 2] ^= 16
        path.write_bytes(damaged)
        for entries in (None, np.arange(0, 300, 2)):
            with pytest.raises(forthwith.ForthwithError, match=rf"in\.root(.|\n)*byte {position:#x}"):
                forthwith.merge(path, out, entries=entries)
            assert not out.exists()


def numbers(seed, rows):
    """All types of numbers, with the smallest and largest, and lists, texts, options, records and variants of them."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, rows)
    counts[:2] = 1, 2
    inner = rng.integers(0, 3, int(counts.sum()))
    columns = {"flag": rng.random(rows) < 0.5}
    for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        limits = np.iinfo(kind)
        columns[kind] = rng.integers(limits.min, limits.max, rows, dtype=kind, endpoint=True)
        columns[kind][:2] = limits.min, limits.max
    lists = ak.unflatten(rng.integers(-5, 5, int(counts.sum())), counts)
    return columns | {
        "f4": rng.normal(size=rows).astype("f4"),
        "f8": rng.normal(size=rows),
        "lists": lists,
        "deep": ak.unflatten(ak.unflatten(rng.normal(size=int(inner.sum())), inner), counts),
        "text": ak.Array(["t" * int(count) for count in counts]),
        "maybe": ak.from_iter([None if count == 0 else int(count) - 3 for count in counts]),
        "record": ak.zip({"a": columns["i4"], "b": columns["u2"]}),
        "records": ak.zip({"a": lists, "b": lists * 0.5}),
        "variant": ak.from_iter([int(count) - 2 if count % 2 else "t" * int(count) for count in counts]),
    }


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0), (2, 1, 0), (0, 2)])
def test_pages_of_other_encodings_become_those_of_the_first(tmp_path, order):
    """Without a codec numbers are stored as they are, with one byte by byte, with their sign in the lowest bit."""
    paths = [tmp_path / f"{at}.root" for at in range(3)]
    for at, (path, codec) in enumerate(zip(paths, (None, "zstd", "lz4"), strict=True)):
        with forthwith.recreate(path, compression=codec) as file:
            table = file.mkrntuple(
                "n", {name: ak.type(ak.Array(column)).content for name, column in numbers(0, 99).items()}
            )
            for step in range(2):
                table.extend(numbers(10 * at + step, 150 + at))
    own = [values(path, "n") for path in paths]
    out, chosen = tmp_path / "out.root", slice(100, 480)
    asked = [(str(path), "n", None) for path in paths]
    expected = {name: [value for at in order for value in own[at][name]] for name in own[0]}
    for entries, codec in ((None, "default"), (None, "zlib"), (chosen, "default")):
        out = tmp_path / f"out-{len(asked)}.root"
        forthwith.merge([paths[at] for at in order], out, entries=entries, compression=codec)
        picked = slice(None) if entries is None else entries
        assert values(out, "n") == {name: column[picked] for name, column in expected.items()}
        sound(out)
        asked.append((str(out), "n", None))
    if has_root():
        *before, whole, anew, some = shown_by_root(asked, tmp_path)
        joined = [entry for at in order for entry in before[at]]
        assert whole == anew == joined
        assert some == joined[chosen]
