"""How much is lost with ``errors="skip"`` and ``"null"``: no more than the damaged entry, or its block."""

import io
import pickle
import warnings

import awkward as ak
import numpy as np
import pytest

import forthwith

TEXT = {"type": "record", "name": "r", "fields": [{"name": "s", "type": "string"}]}


def test_damage_is_that_of_the_file_where_entries_of_avro_are_listed(tmp_path):
    fields = [{"name": "x", "type": "double"}, {"name": "b", "type": "boolean"}]
    schema = {"type": "record", "name": "r", "fields": fields}
    rows = {"x": np.arange(4000.0), "b": np.arange(4000) % 2 == 0}
    for codec in ("null", "deflate"):
        path = tmp_path / f"{codec}.avro"
        with forthwith.avro_writer(path, codec=codec, schema=schema, block_entries=500) as file:
            file.write(rows)
        data = path.read_bytes()
        if codec == "null":
            # A flag that is no boolean.
            at = data.index(np.float64(2501).tobytes()) + 8
            data = data[:at] + b"\x02" + data[at + 1 :]
        else:
            at = len(data) * 5 // 8
            data = data[:at] + bytes(64) + data[at + 64 :]
        path.write_bytes(data)
        with forthwith.open(path) as table:
            assert table.arrays(["x"], entries=[5, 700]).x.to_list() == [5, 700]
            with pytest.raises(forthwith.DamagedFileError, match="block"):
                table.arrays(entries=[5, 2501, 3999])
            with pytest.warns(forthwith.DataLossWarning):
                left = table.arrays(entries=[5, 2501, 3999], errors="skip")
            assert left.x.to_list() == [5, 3999]


def texts(folder, damaged):
    """An Avro file of eighty blocks of a hundred texts, some of which are no text."""
    with forthwith.avro_writer(folder / "x.avro", schema=TEXT, block_entries=100) as file:
        file.write({"s": ak.Array([f"text{at:05}" for at in range(8000)])})
    data = (folder / "x.avro").read_bytes()
    for at in damaged:
        data = data.replace(f"text{at:05}".encode(), b"\xff\xff\xff\xff" + f"{at:05}".encode())
    return forthwith.open(io.BytesIO(data))


@pytest.mark.parametrize("damaged", [range(50, 8000, 100), [*range(730, 770), 7999]])
def test_texts_are_lost_one_by_one_however_many_blocks_have_some(tmp_path, damaged):
    tree, lost = texts(tmp_path, damaged), []
    left = tree.arrays(errors="skip", lost=lost)
    assert [(loss.start, loss.stop) for loss in lost] == [(at, at + 1) for at in damaged]
    assert left.s.to_list() == [f"text{at:05}" for at in range(8000) if at not in damaged]
    nulls = tree.arrays(errors="null", lost=[])
    assert np.flatnonzero(ak.is_none(nulls.s)).tolist() == list(damaged)


@pytest.mark.parametrize("errors", ["skip", "null"])
def test_a_file_of_avro_that_is_cut_off_loses_its_last_block(tmp_path, errors):
    path = tmp_path / "x.avro"
    forthwith.write_avro(path, {"x": np.arange(1000), "y": np.arange(1000) / 2}, block_entries=100)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    with forthwith.open(path) as tree:
        with pytest.raises(forthwith.DamagedFileError, match="needs"):
            tree.arrays()
        with pytest.warns(
            forthwith.DataLossWarning, match="a block of .* unknown number of entries; the first: .*needs"
        ):
            left = tree.arrays(errors=errors)
        assert left.x.to_list() == [*range(900)]
        lost = []
        assert tree["x"].array(errors=errors, lost=lost).to_list() == [*range(900)]
        (loss,) = lost
        assert (loss.start, loss.stop, loss.block) == (900, 900, 9)
        assert isinstance(loss.error, forthwith.DamagedFileError)
        assert loss.error.file == str(path)
        assert tree.arrays(["x"], errors="skip", cut="x > 890", lost=[]).x.to_list() == [*range(891, 900)]
        assert tree.arrays(["x"], errors=errors, entry_start=-2, lost=[]).x.to_list() == [898, 899]
        with pytest.warns(forthwith.DataLossWarning):
            steps = list(tree.iterate(["x"], errors=errors, step_size=400))
        assert [len(step) for step in steps] == [400, 400, 100]
        with pytest.warns(forthwith.DataLossWarning):
            steps = list(tree.iterate(["x"], errors=errors, step_size=40, entry_start=-60))
        assert [len(step) for step in steps] == [40, 20]
    # Blocks behind one that cannot be told apart come in their turn.
    at = whole.index(whole[-16:], len(whole) // 2)
    path.write_bytes(whole[: at - 20] + whole[at + 16 :])
    with forthwith.open(path) as tree:
        with pytest.warns(forthwith.DataLossWarning):
            steps = list(tree.iterate(["x"], errors=errors, step_size=70))
        together = tree.arrays(["x"], errors=errors, lost=[]).x.to_list()
        assert [x for step in steps for x in step.x.to_list()] == together
        assert 600 < len(together) < 900


def test_a_cut_file_among_others_loses_its_last_block_alone(tmp_path):
    for name in ("a", "b", "c"):
        forthwith.write_avro(tmp_path / f"{name}.avro", {"x": np.arange(1000)}, block_entries=100)
    cut = tmp_path / "b.avro"
    cut.write_bytes(cut.read_bytes()[:-30])
    lost = []
    left = forthwith.concatenate(f"{tmp_path}/*.avro", errors="skip", lost=lost)
    assert left.x.to_list() == [*range(1000), *range(900), *range(1000)]
    assert [(loss.start, loss.stop) for loss in lost] == [(1900, 1900)]
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.concatenate(f"{tmp_path}/*.avro")
    # Bounds and lists of entries count what is read; the chain does not take this for the length of its files.
    chain = forthwith.open(f"{tmp_path}/*.avro")

    def found(**options):
        return chain.arrays(["x"], errors="skip", lost=[], **options).x.to_list()

    assert found(entry_start=-2) == [998, 999]
    assert found(entry_start=-1001, entry_stop=-999) == [899, 0]
    assert found(entries=[0, 1899, 1900, 2899]) == [0, 899, 0, 999]
    assert len(found()) == 2900
    with pytest.raises(forthwith.RequestError, match="no entry 2900"):
        found(entries=[2900])
    for asked in (chain, pickle.loads(pickle.dumps(chain))):
        with pytest.raises(forthwith.DamagedFileError):
            _ = asked.num_entries
    # A file that is left out has no entries.
    (tmp_path / "aa.avro").write_bytes(b"nothing")
    chain = forthwith.open(f"{tmp_path}/*.avro")
    with pytest.warns(forthwith.DataLossWarning):
        assert found(entry_start=-1001, entry_stop=-999) == [899, 0]
    # The last file that can be opened is the cut one, of which nothing is wanted.
    (tmp_path / "c.avro").write_bytes(b"nothing")
    chain = forthwith.open(f"{tmp_path}/*.avro")
    with pytest.warns(forthwith.DataLossWarning):
        assert found(entry_start=5000) == []


def test_other_row_groups_of_parquet_are_not_lost(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"s": [f"text{at:05}" for at in range(3000)], "k": range(3000)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=1000, compression="none", use_dictionary=False)
    data = (tmp_path / "x.parquet").read_bytes()
    for at in range(100, 140):
        data = data.replace(f"text{at:05}".encode(), b"\xff\xff\xff\xff" + f"{at:05}".encode())
    lost = []
    left = forthwith.open(io.BytesIO(data)).arrays(errors="skip", lost=lost)
    assert left.k.to_list() == [*range(100), *range(140, 3000)]
    assert {loss.error.object for loss in lost} == {"s"}


def test_one_basket_is_one_loss_where_branches_have_others(tmp_path):
    with forthwith.recreate(tmp_path / "x.root", compression=forthwith.ZLIB(1)) as file:
        file.mktree("t", {"x": np.random.default_rng(1).normal(size=5000), "y": np.arange(5000)}, cluster_entries=500)
    data = bytearray((tmp_path / "x.root").read_bytes())
    with forthwith.open(tmp_path / "x.root") as file:
        branch = next(one for one in file["t"].as_object.member("fBranches") if one.member("fName") == "x")
        seek, size = (int(np.asarray(branch.member(name))[3]) for name in ("fBasketSeek", "fBasketBytes"))
    data[seek + size // 2 : seek + size // 2 + 40] = bytes(40)
    tree, lost = forthwith.open(io.BytesIO(bytes(data)))["t"], []
    assert tree.arrays(errors="skip", lost=lost).y.to_list() == [*range(1500), *range(2000, 5000)]
    assert [(loss.start, loss.stop) for loss in lost] == [(1500, 2000)]


@pytest.mark.slow
def test_whatever_byte_of_an_ntuple_is_wrong_it_is_a_loss(tmp_path):
    columns = {"x": np.arange(300.0), "l": ak.Array([[at] * (at % 3) for at in range(300)])}
    with forthwith.recreate(tmp_path / "x.root", compression=None) as file:
        file.mkrntuple("n", columns, cluster_entries=60)
    data = (tmp_path / "x.root").read_bytes()
    opened = 0
    for at in range(0, len(data), 29):
        wrong = bytearray(data)
        wrong[at] ^= 0x55
        try:
            tree = forthwith.open(io.BytesIO(bytes(wrong)))["n"]
        except forthwith.ForthwithError:
            continue
        opened += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", forthwith.DataLossWarning)
            assert len(tree.arrays(errors="skip")) <= 300
            assert len(tree.arrays(errors="null")) == 300
    assert opened > 100
