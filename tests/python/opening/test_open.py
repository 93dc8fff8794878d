"""Ways of naming what to open."""

import io
import os
import pathlib
import shutil
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import data

import forthwith
from forthwith._paths import split_path


def test_a_path_is_a_file(path):
    with forthwith.open(path) as file:
        assert isinstance(file, forthwith.File)
        assert file.file_path == path
        assert file.file is file
        assert file.path == ""


def test_an_object_after_a_colon(path):
    with forthwith.open(path + ":events") as tree:
        assert isinstance(tree, forthwith.Tree)
    assert tree.file.closed
    assert forthwith.open(path + ":skim/events").path == "skim/events"
    assert forthwith.open(path + ":/skim/").path == "skim"
    assert isinstance(forthwith.open(path + ":"), forthwith.File)


def test_a_mapping_names_file_and_object(path):
    assert forthwith.open({path: "events"}).name == "events"
    assert isinstance(forthwith.open({path: None}), forthwith.File)
    assert isinstance(forthwith.open({pathlib.Path(path): "skim"}), forthwith.Directory)
    assert isinstance(forthwith.open({path: "events", pathlib.Path(path): "events"}), forthwith.Chain)
    with pytest.raises(ValueError, match="empty mapping"):
        forthwith.open({})
    with pytest.raises(TypeError, match="must be a name or None"):
        forthwith.open({path: 1})


def test_a_path_object_has_no_colon_rule(path, tmp_path):
    odd = tmp_path / "a.root:events"
    shutil.copy(path, odd)
    assert isinstance(forthwith.open(odd), forthwith.File)
    assert "skim;1" in forthwith.open(odd).keys()  # noqa: SIM118
    with pytest.raises(forthwith.MissingFileError):
        forthwith.open(pathlib.Path(path + ":events"))


def test_a_file_that_exists_wins_over_the_colon(path, tmp_path):
    odd = tmp_path / "a:b.root"
    shutil.copy(path, odd)
    assert isinstance(forthwith.open(str(odd)), forthwith.File)
    assert isinstance(forthwith.open(f"{odd}:events"), forthwith.Tree)
    plain = tmp_path / "no extension"
    shutil.copy(path, plain)
    assert isinstance(forthwith.open(f"{plain}:events"), forthwith.Tree)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("f.root", ("f.root", None)),
        ("f.root:dir/tree", ("f.root", "dir/tree")),
        ("f.root:/dir//tree/", ("f.root", "dir/tree")),
        ("f.root.1:tree", ("f.root.1", "tree")),
        ("f.dat:tree", ("f.dat", "tree")),
        ("f.root:a:b", ("f.root", "a:b")),
        (r"C:\d\f.root", (r"C:\d\f.root", None)),
        (r"C:\d\f.root:tree", (r"C:\d\f.root", "tree")),
        ("C:/d/f.root:tree", ("C:/d/f.root", "tree")),
        ("http://host:8080/f.root", ("http://host:8080/f.root", None)),
        ("http://host:8080/f.root:tree", ("http://host:8080/f.root", "tree")),
        ("https://host/f.root?token=a&b:tree", ("https://host/f.root?token=a&b", "tree")),
        ("https://host:1/f?x=a:b", ("https://host:1/f?x=a:b", None)),
        ("root://host:1094//d/f.root:tree", ("root://host:1094//d/f.root", "tree")),
        ("root://cache:1//root://host:2//f.root:t", ("root://cache:1//root://host:2//f.root", "t")),
        ("root://cache:1//root://host:2//f.root", ("root://cache:1//root://host:2//f.root", None)),
    ],
)
def test_where_the_colon_separates(text, parts):
    assert split_path(text) == parts


def test_urls(path):
    assert forthwith.open(f"file://{path}:events").num_entries == 3600
    with pytest.raises(forthwith.UnsupportedError, match="nowhere"):
        forthwith.open("nowhere://example.org/f.root")
    with pytest.raises(ValueError, match="for paths"):
        forthwith.open("https://example.org/f.root", source="map")


class Recorder(io.BytesIO):
    calls = 0

    def read(self, *args):
        self.calls += 1
        return super().read(*args)


def test_a_file_object_is_read_where_needed(path, tree):
    opened = Recorder(pathlib.Path(path).read_bytes())
    with forthwith.open(opened) as file:
        assert file["events/Muon_pt"].array().to_list() == tree["Muon_pt"].array().to_list()
        assert opened.calls > 0
    assert not opened.closed
    with pytest.raises(ValueError, match="for paths"):
        forthwith.open(opened, source="map")
    with pathlib.Path(path).open("rb") as raw:
        assert forthwith.open({raw: "events"})["run"].array(library="np", threads=4).sum() > 0


class Broken(io.BytesIO):
    broken = None

    def read(self, *args):
        if self.broken:
            raise self.broken
        return super().read(*args)


def test_an_exception_of_a_file_object_is_the_cause(path):
    opened = Broken(pathlib.Path(path).read_bytes())
    file = forthwith.open(opened)
    tree = file["events"]
    opened.broken = ZeroDivisionError("the disk is on fire")
    with pytest.raises(forthwith.SourceError, match="the disk is on fire") as caught:
        tree["Muon_pt"].array(threads=2)
    assert caught.value.__cause__ is opened.broken
    opened.broken = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        tree["Muon_pt"].array()
    opened.broken = None
    assert len(tree["Muon_pt"].array()) == 3600


def test_file_objects_that_misbehave(path):
    class Text(io.StringIO):
        pass

    with pytest.raises(forthwith.SourceError):
        forthwith.open(Text("not bytes, but long enough to be asked for a header " * 20))

    class Short(io.BytesIO):
        def read(self, size=-1):
            return super().read(size)[:7]

    short = Short(pathlib.Path(path).read_bytes())
    assert forthwith.open(short)["events"].num_entries == 3600


def test_paths_may_be_bytes(path, tmp_path):
    with forthwith.open(os.fsencode(path)) as file:
        assert file["events"].num_entries == 3600
    assert forthwith.open(os.fsencode(f"{path}:events")).num_entries == 3600
    assert len(forthwith.concatenate([os.fsencode(f"{path}:events")], "run")) == 3600
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "a.root").write_bytes(pathlib.Path(path).read_bytes())
    assert forthwith.open(os.fsencode(f"{folder}:events")).num_entries == 3600
    with pytest.raises(FileNotFoundError, match=r"nowhere\.root"):
        forthwith.open(b"nowhere.root")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_names_of_files_need_not_be_text(path, tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9"
    made = os.fsdecode(name)
    for write, ending in ((forthwith.write_avro, ".avro"), (forthwith.write_parquet, ".parquet")):
        write(f"{made}{ending}", {"x": [1, 2, 3]})
        assert os.path.exists(name + ending.encode())
        assert forthwith.open(name + ending.encode()).arrays(library="np")["x"].tolist() == [1, 2, 3]
    with forthwith.create(f"{made}.root") as file:
        file["t"] = {"x": [1.5, 2.5]}
    with forthwith.update(f"{made}.root") as file:
        file["u"] = {"x": [3.5]}
    with forthwith.open(f"{made}.root") as file:
        assert file["t"].num_entries == 2
        assert file["u"].num_entries == 1
    forthwith.merge([path], f"{made}-merged.root")
    assert forthwith.open(f"{made}-merged.root")["events"].num_entries == 3600


def test_nonsense_is_refused(path):
    for nonsense in (1, None, b"f.root\0and what else a file has", object()):
        with pytest.raises(TypeError, match="open takes"):
            forthwith.open(nonsense)
    with pytest.raises(TypeError):
        forthwith.open(path, handler=None)
    with pytest.raises(ValueError, match="source must be"):
        forthwith.open(path, source="mmap")
    with pytest.raises(ValueError, match="threads"):
        forthwith.open(path, threads=0)
    with pytest.raises(ValueError, match="memory"):
        forthwith.open(path, memory="much")


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        forthwith.open("/no/such/file.root:tree")
    assert isinstance(caught.value, forthwith.MissingFileError)
    assert isinstance(caught.value, OSError)
    assert caught.value.filename == "/no/such/file.root"
    assert caught.value.errno == 2
    assert "/no/such/file.root" in str(caught.value)
    with pytest.raises(forthwith.SourceError):
        forthwith.open(tmp_path)
    (tmp_path / "x.root").write_bytes(b"PK\x03\x04" * 100)
    with pytest.raises(ValueError) as caught:
        forthwith.open(tmp_path / "x.root")
    assert isinstance(caught.value, forthwith.DamagedFileError)
    (tmp_path / "e.root").write_bytes(b"")
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.open(tmp_path / "e.root")


@pytest.mark.parametrize("source", ["auto", "map", "pread"])
def test_sources_agree(source):
    with forthwith.open(data("codec-none.root"), source=source) as file:
        assert file.keys()
        trees = file.values(filter_classname="TTree")
        assert all(len(tree.arrays()) == tree.num_entries for tree in trees)


def test_a_limit_on_memory(path):
    tree = forthwith.open(path + ":events", memory="1 kB")
    with pytest.raises(MemoryError) as caught:
        tree.arrays(filter_name="Muon_*")
    assert isinstance(caught.value, forthwith.OutOfMemoryError)
    assert len(forthwith.open(path + ":events", memory="1 GiB").arrays()) == 3600


def test_what_a_file_says_of_itself(file):
    assert file.version == "6.40/00"
    assert len(file.uuid) == 36
    assert file.compression == "ZSTD level 5"
    assert file.size == pathlib.Path(file.file_path).stat().st_size


def test_memory_policies_change_no_value(path):
    expected = forthwith.open(path + ":events").arrays()
    for options in ({"pool": 0}, {"pool": "1 MB", "huge_pages": False}, {"huge_pages": False}):
        tree = forthwith.open(path + ":events", **options)
        assert tree.arrays().to_list() == expected.to_list()
    with pytest.raises(ValueError, match="pool must be 0 or more"):
        forthwith.open(path, pool=-1)


@pytest.mark.skipif(sys.platform != "linux", reason="memory of their own have columns on Linux only")
def test_a_file_finds_the_memory_of_the_one_before(tmp_path):
    schema = pa.schema([pa.field("x", pa.float64(), nullable=False)])
    pq.write_table(pa.table({"x": np.arange(1e6)}, schema), tmp_path / "some.parquet")

    def address(**options):
        array = forthwith.open(tmp_path / "some.parquet", **options)["x"].array(library="np")
        assert array[-1] == 1e6 - 1
        return array.ctypes.data

    # There may be several pieces of such a size, of files that were read before.
    seen = {address() for _ in range(4)}
    assert len(seen) <= 2
    assert address() in seen
    assert address(pool=0) not in seen


@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (b"", "nothing at all: it is empty"),
        (b"ab", "no more than 2 bytes"),
        (b"a,b\n1,2\n", r'text that begins with "a,b\\n1,2\\n"'),
        (b"{a: 1}\n", r'text that begins with "{a: 1}\\n"'),
        (b"FEA1" + b"\0" * 20, "a Feather file"),
        (b"ORC\x0a\x03", "an ORC file"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "a file compressed by gzip"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"PK\x03\x04\0\0", "a ZIP archive"),
        (b"\0\x01\x02\x03\x04", r"bytes that begin with \[00, 01, 02, 03, 04\]"),
    ],
)
def test_files_of_no_known_format_are_said_to_be_what_they_are(begin, what, tmp_path):
    name = tmp_path / "what"
    name.write_bytes(begin)
    for source in (name, io.BytesIO(begin)):
        with pytest.raises(
            forthwith.DamagedFileError,
            match=f"not a ROOT, Avro, Parquet, Arrow, ProtoBuf, JSON Lines or CSV file: {what}",
        ) as caught:
            forthwith.open(source)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("begin", [b'{"a": 1}\n', b'\xef\xbb\xbf\n{ "a":1 }', b'[ {"a": 1} ]', b'[\n{"a":1}]'])
def test_objects_of_json_need_no_ending_of_a_name(begin, tmp_path):
    name = tmp_path / "what"
    name.write_bytes(begin)
    for source in (name, io.BytesIO(begin)):
        assert forthwith.open(source).to_list() == [{"a": 1}]
    # The ending of another format is believed.
    name = tmp_path / "what.csv"
    name.write_bytes(b'{"a": 1}\n')
    assert forthwith.open(name).keys() == ['{"a": 1}']
    with pytest.raises(forthwith.DamagedFileError, match="not a ROOT, Avro"):
        forthwith.open(io.BytesIO(b'["a", 1]'))


def test_a_folder_that_is_missing_is_named(tmp_path):
    name = tmp_path / "nowhere" / "x.avro"
    with pytest.raises(forthwith.MissingFileError) as caught:
        forthwith.write_avro(str(name), {"x": [1]})
    assert caught.value.filename == str(tmp_path / "nowhere")
