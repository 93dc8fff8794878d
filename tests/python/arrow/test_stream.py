"""Trees and selections as Arrow streams."""

import io
import pathlib
import signal

import pyarrow as pa
import pytest

import forthwith

NAMES = ["event", "MET_pt", "HLT_IsoMu24", "Muon_pt", "dataset", "Track_hits", "PV_xyz"]


def test_pyarrow_takes_a_tree(tree):
    table = pa.table(tree)
    assert table.column_names == tree.keys()
    assert table.num_rows == 3600
    assert table.equals(tree.arrays(library="arrow"))


def test_pyarrow_takes_a_selection_again_and_again(tree):
    selection = tree.select(NAMES, entry_start=100, entry_stop=-100, step_size=500)
    assert selection.keys() == NAMES
    assert selection.num_entries == 3400
    assert selection.tree is tree
    expected = tree.arrays(NAMES, entry_start=100, entry_stop=-100, library="arrow")
    for _ in range(2):
        assert pa.table(selection).equals(expected)
    reader = pa.RecordBatchReader.from_stream(selection)
    assert reader.schema == expected.schema
    assert [batch.num_rows for batch in reader] == [500] * 6 + [400]
    assert pa.schema(selection) == expected.schema
    assert selection.arrays(library="arrow").equals(expected)


def test_an_empty_selection_has_a_schema(tree):
    table = pa.table(tree.select(NAMES, entry_stop=0))
    assert table.num_rows == 0
    assert table.column_names == NAMES


def test_a_schema_needs_no_data(tree):
    selection = tree.select(NAMES)
    tree.file.close()
    assert pa.schema(selection).names == NAMES
    with pytest.raises(forthwith.ClosedFileError):
        pa.table(selection)


def test_polars_takes_a_tree(tree):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(tree.select(NAMES, step_size="20 kB"))
    assert frame.columns == NAMES
    for name in NAMES:
        assert frame[name].to_list() == tree[name].array().to_list(), name
    assert polars.DataFrame(tree).height == 3600


def test_pandas_takes_a_tree(tree):
    pandas = pytest.importorskip("pandas", minversion="3", reason="pandas takes streams from version 3 on")
    frame = pandas.DataFrame.from_arrow(tree.select(["event", "MET_pt"]))
    assert frame["MET_pt"].to_list() == tree["MET_pt"].array().to_list()


def test_one_array_is_arrow_data(tree):
    (batch,) = tree["MET_pt"].bulk(0, 10)
    assert pa.array(batch).to_pylist() == tree["MET_pt"].array(entry_start=0, entry_stop=10).to_list()


def test_streams_from_file_objects(path, tree):
    with forthwith.open(io.BytesIO(pathlib.Path(path).read_bytes()), threads=2) as file:
        selection = file["events"].select(NAMES, step_size=700)
        assert pa.table(selection).to_pydict() == tree.arrays(NAMES, library="arrow").to_pydict()


def test_errors_in_a_stream_are_told(path):
    class Broken(io.BytesIO):
        broken = False

        def read(self, *args):
            if self.broken:
                raise ZeroDivisionError("the disk is on fire")
            return super().read(*args)

    source = Broken(pathlib.Path(path).read_bytes())
    reader = pa.RecordBatchReader.from_stream(forthwith.open(source)["events"].select(NAMES, step_size=700))
    source.broken = True
    with pytest.raises((pa.ArrowException, OSError), match="the disk is on fire"):
        reader.read_all()


def test_a_stream_keeps_what_it_needs(path):
    reader = pa.RecordBatchReader.from_stream(forthwith.open(path)["events"].select(NAMES))
    assert reader.read_all().num_rows == 3600


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that send signals")
def test_no_signal_is_lost_while_batches_are_read(tree):
    """It may come when the last of a batch has been read."""
    selection = tree.select(NAMES)

    def stop(*_):
        raise KeyboardInterrupt

    def read_until_stopped(seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        for _ in range(1000):
            pa.RecordBatchReader.from_stream(selection).read_all()

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for at in range(40):
            with pytest.raises((KeyboardInterrupt, pa.ArrowInvalid), match=r"^$|interrupted by KeyboardInterrupt"):
                read_until_stopped(0.005 + at * 0.0004)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
