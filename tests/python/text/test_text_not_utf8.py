"""Text that is not UTF-8, which ROOT allows, and Arrow does not: an error by default, or what `text=` says."""

import io
import random
import subprocess
import sys

import numpy as np
import pytest

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

STORED = [b"a", "é".encode(), b"5 \xb5m", b"", b"\xff\xfe", b"z"]
READ = {
    "latin-1": ["a", "é", "5 µm", "", "ÿþ", "z"],
    "replace": ["a", "é", "5 �m", "", "��", "z"],
    "ignore": ["a", "é", "5 m", "", "", "z"],
    "bytes": STORED,
}
AS_TEXT = [text.decode(errors="surrogateescape") for text in STORED]


def ascii_of(stored):
    """Texts of the same lengths, which are found again in the file."""
    return [f"<{number:04}>".encode()[: len(text)].ljust(len(text), b"#") for number, text in enumerate(stored)]


def _patch(path, stored):
    """Puts texts in the place of those of the same lengths."""
    data = path.read_bytes()
    for plain, text in zip(ascii_of(stored), stored, strict=True):
        assert data.count(plain) == 1
        data = data.replace(plain, text)
    path.write_bytes(data)


# Texts that are long enough to be found again.
LONG = [b"%s of entry %d" % (text, number) for number, text in enumerate(STORED)]
LONG_READ = {
    name: [part + (b" of entry %d" % at if name == "bytes" else f" of entry {at}") for at, part in enumerate(parts)]
    for name, parts in READ.items()
}


def _written(tmp_path, kind):
    """A file of each format with the texts, and how its table is opened."""
    path = tmp_path / f"x.{kind}"
    if kind == "tree":
        with forthwith.recreate(path) as file:
            file["t"] = {"s": LONG, "n": np.arange(len(LONG))}
        return f"{path}:t", {}
    if kind == "ntuple":
        with forthwith.recreate(path, compression=None) as file:
            file.mkrntuple("t", {"s": [text.decode() for text in ascii_of(LONG)], "n": np.arange(len(LONG))})
        _patch(path, LONG)
        return f"{path}:t", {"checksums": False}
    if kind == "parquet":
        plain = pa.table({"s": [text.decode() for text in ascii_of(LONG)], "n": list(range(len(LONG)))})
        pq.write_table(plain, path, compression="none", use_dictionary=False, write_statistics=False)
        _patch(path, LONG)
        return path, {}
    array = pa.table({"s": [text.decode() for text in ascii_of(LONG)], "n": list(range(len(LONG)))})
    forthwith.write_avro(str(path), array, codec="null")
    _patch(path, LONG)
    return path, {}


KINDS = ["tree", "ntuple", "parquet", "avro"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", READ)
def test_text_is_what_was_asked_for_in_all_faces(tmp_path, kind, text):
    ak, pl = pytest.importorskip("awkward"), pytest.importorskip("polars")
    pytest.importorskip("pandas")
    path, options = _written(tmp_path, kind)
    wanted = LONG_READ[text]
    with forthwith.open(path, text=text, **options) as table:
        assert table.arrays(["s"], library="ak").s.to_list() == wanted
        assert table["s"].array(library="np").tolist() == wanted
        assert table["s"].array(library="pd").tolist() == wanted
        assert table.arrays(["s"], library="pl")["s"].to_list() == wanted
        assert table.arrays(["s"], library="arrow")["s"].to_pylist() == wanted
        assert pa.table(table)["s"].to_pylist() == wanted
        assert pl.DataFrame(table)["s"].to_list() == wanted
        assert [row["s"] for row in table.rows()] == wanted
        steps = table.iterate(["s"], step_size=4, library="arrow")
        assert [item for step in steps for item in step["s"].to_pylist()] == wanted
        assert table.arrays(["s"], cut="n >= 2", library="arrow")["s"].to_pylist() == wanted[2:]
        if text != "bytes":
            assert table.arrays(["n"], cut=f"s == {wanted[2]!r}".replace("'", '"')).n.to_list() == [2]
        assert ak.to_list(table.select(["s"]).arrays()["s"]) == wanted
    name = str(path)
    with forthwith.open([name, name], text=text, **options) as chain:
        assert chain.arrays(["s"], library="pl")["s"].to_list() == 2 * wanted
    both = forthwith.concatenate([name, name], ["s"], library="arrow", text=text, **options)
    assert both["s"].to_pylist() == 2 * wanted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("library", ["pd", "pl", "arrow"])
def test_unchecked_text_is_replaced_for_arrow_alone(tmp_path, kind, library):
    path, options = _written(tmp_path, kind)
    with forthwith.open(path, check_text=False, **options) as table:
        found = table.arrays(["s"], library=library)["s"]
        assert (found.to_pylist() if library == "arrow" else list(found)) == LONG_READ["replace"]
        stored = [text.decode(errors="surrogateescape") for text in LONG]
        assert table["s"].array(library="np").tolist() == stored
        if library == "arrow":
            assert pa.table(table)["s"].to_pylist() == LONG_READ["replace"]


@pytest.mark.parametrize("library", ["pd", "pl", "arrow"])
def test_text_that_arrow_refuses_is_named(tmp_path, library):
    with forthwith.recreate(tmp_path / "t.root") as file:
        file["t"] = {"s": STORED}
    with forthwith.open(f"{tmp_path}/t.root:t") as tree:
        assert tree["s"].array(library="np").tolist() == AS_TEXT
        for start in (0, 1):
            with pytest.raises(forthwith.DamagedFileError, match=r'b"5 \\xb5m".*text="latin-1"') as caught:
                tree.arrays(["s"], library=library, entry_start=start)
            assert (caught.value.object, caught.value.entry) == ("t/s", 2)


@pytest.mark.parametrize("library", ["pd", "pl", "arrow"])
def test_a_text_costs_its_entry_alone(tmp_path, library):
    with forthwith.recreate(tmp_path / "t.root") as file:
        file["t"] = {"s": STORED * 20, "n": np.arange(120)}
    lost = []
    with forthwith.open(f"{tmp_path}/t.root:t") as tree:
        kept = tree.arrays(library=library, errors="skip", lost=lost, entry_stop=60)
        assert [loss.start for loss in lost] == [n for n in range(60) if n % 6 in (2, 4)]
        assert list(kept["n"] if library != "arrow" else kept["n"].to_pylist()) == [
            n for n in range(60) if n % 6 not in (2, 4)
        ]


def test_nested_text_is_converted_at_each_level(tmp_path):
    ak = pytest.importorskip("awkward")
    rows = [[["a", "~~"], []], [], [["~~"]]]
    with forthwith.recreate(tmp_path / "t.root", compression=None) as file:
        file.mkrntuple("n", {"l": ak.Array(rows), "r": ak.Array([{"x": "~~"}] * 3), "o": ak.Array(["~~", None, "b"])})
    data = (tmp_path / "t.root").read_bytes().replace(b"~~", b"\xb5m")
    (tmp_path / "t.root").write_bytes(data)
    with forthwith.open(f"{tmp_path}/t.root:n", text="latin-1", checksums=False) as table:
        read = table.arrays(library="arrow")
        assert read["l"].to_pylist() == [[["a", "µm"], []], [], [["µm"]]]
        assert read["r"].to_pylist() == [{"x": "µm"}] * 3
        assert read["o"].to_pylist() == ["µm", None, "b"]
        assert table["r/x"].array().to_list() == ["µm"] * 3


def test_random_texts_are_those_of_python(tmp_path):
    picked = random.Random(3)
    texts = [bytes(picked.choices(b"ab\xc3\xa9\xb5\xff\xe2\x82\xac", k=picked.randrange(9))) for _ in range(400)]
    with forthwith.recreate(tmp_path / "t.root") as file:
        file["t"] = {"s": texts}

    def latin(text):
        try:
            return text.decode()
        except UnicodeDecodeError:
            return text.decode("latin-1")

    for name, by_python in (
        ("latin-1", latin),
        ("replace", lambda text: text.decode(errors="replace")),
        ("bytes", bytes),
    ):
        with forthwith.open(f"{tmp_path}/t.root:t", text=name) as tree:
            assert tree["s"].array(library="arrow").to_pylist() == [by_python(text) for text in texts]


def test_other_names_are_refused():
    with pytest.raises(forthwith.RequestError, match="text must be strict, bytes, latin-1, replace, ignore, not"):
        forthwith.open(io.BytesIO(b"PAR1"), text="utf-16")


@pytest.mark.parametrize("ending", ["parquet", "avro", "arrow"])
def test_files_of_other_formats_get_valid_text_alone(tmp_path, ending):
    with forthwith.recreate(tmp_path / "t.root") as file:
        file["t"] = {"s": STORED}
    source, copy = f"{tmp_path}/t.root:t", tmp_path / f"c.{ending}"

    def convert(*options):
        command = [sys.executable, "-m", "forthwith", "convert", source, str(copy), "--force", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    refused = convert()
    assert refused.returncode != 0
    assert all(part in refused.stderr for part in (r'b"5 \xb5m"', "t/s", "entry 2", "--text"))
    assert not copy.exists()
    for name in ("latin-1", "replace", "bytes"):
        assert convert("--text", name).returncode == 0
        with forthwith.open(copy) as table:
            assert table["s"].array(library="arrow").to_pylist() == READ[name]


def test_text_that_is_not_utf_8_is_not_written_to_avro(tmp_path):
    ak = pytest.importorskip("awkward")
    with forthwith.recreate(tmp_path / "t.root") as file:
        file["t"] = {"s": STORED}
    with (
        forthwith.open(f"{tmp_path}/t.root:t") as tree,
        pytest.raises(forthwith.ForthwithError, match="not UTF-8") as caught,
    ):
        forthwith.write_avro(str(tmp_path / "c.avro"), ak.Array({"s": tree["s"].array()}))
    assert caught.value.entry == 2
