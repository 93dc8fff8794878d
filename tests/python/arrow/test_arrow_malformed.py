"""Arrow data whose buffers are not what their type says: pyarrow makes such without a word."""

import numpy as np
import pytest

import forthwith

pa = pytest.importorskip("pyarrow")


def views(length, first, buffer, offset, data=b"abc"):
    """A column of one view."""
    view = np.array([length, first, buffer, offset], "i4").tobytes()
    return pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(data)])


def text(offsets, data):
    buffers = [None, pa.py_buffer(np.array(offsets, "i4").tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.utf8(), len(offsets) - 1, buffers)


MALFORMED = {
    "a view out of its buffer": views(100, 0, 0, 99_999),
    "a view of a buffer that is not there": views(100, 0, 5, 0),
    "a view of negative length": views(-1, 0, 0, 0),
    "an index out of range": pa.DictionaryArray.from_arrays(pa.array([0, 9], pa.int8()), ["a", "b"], safe=False),
    "an index below zero": pa.DictionaryArray.from_arrays(pa.array([0, -9], pa.int8()), ["a", "b"], safe=False),
    "an index far out of range": pa.DictionaryArray.from_arrays(
        pa.array([0, 900_000], pa.int32()), pa.array([1, 2]), safe=False
    ),
    "text that is not UTF-8": text([0, 3], b"\xff\xfe\xfd"),
    "offsets that go down": text([0, 3, 1], b"abc"),
}
WRITERS = {"avro": forthwith.write_avro, "parquet": forthwith.write_parquet}


@pytest.mark.parametrize("within", ["column", "list", "struct", "second batch"])
@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("written", WRITERS)
def test_malformed_arrow_data_are_an_error_that_names_the_column(tmp_path, written, case, within):
    column = MALFORMED[case]
    if within == "list":
        column = pa.ListArray.from_arrays(pa.array([0, len(column)], pa.int32()), column)
    elif within == "struct":
        column = pa.StructArray.from_arrays([column], ["inner"])
    elif within == "second batch":
        column = pa.chunked_array([column.slice(0, 0), column])
    table = pa.table({"wrong": column})
    with pytest.raises(forthwith.RequestError, match="wrong"):
        WRITERS[written](tmp_path / "x", table)
    assert not list(tmp_path.iterdir())


# Sound arrays of as many rows as one likes, in no bytes at all.
ENDLESS = {
    "nulls": lambda: pa.Array.from_buffers(pa.null(), 2**62, [None]),
    "lists of no items": lambda: pa.Array.from_buffers(
        pa.list_(pa.float64(), 0), 2**40, [None], children=[pa.array([1.0])]
    ),
    "records of no fields": lambda: pa.Array.from_buffers(pa.struct([]), 2**50, [None]),
    "binary of no bytes": lambda: pa.Array.from_buffers(pa.binary(0), 2**50, [None, pa.py_buffer(b"")]),
}


def write_root(path, table, *, ntuple):
    with forthwith.recreate(path) as file:
        if ntuple:
            file.mkrntuple("t", {"wrong": "?float64"}).extend(table)
        else:
            file["t"] = table


ALL_WRITERS = {
    **WRITERS,
    "csv": lambda path, table: forthwith.write_csv(path.with_suffix(".csv"), table),
    "json": lambda path, table: forthwith.write_json(path.with_suffix(".json"), table),
    "tree": lambda path, table: write_root(path, table, ntuple=False),
    "ntuple": lambda path, table: write_root(path, table, ntuple=True),
}


@pytest.mark.parametrize("case", ENDLESS)
@pytest.mark.parametrize("written", ALL_WRITERS)
def test_rows_that_no_bytes_account_for_are_refused(tmp_path, written, case):
    table = pa.table({"wrong": ENDLESS[case]()})
    with pytest.raises((forthwith.RequestError, forthwith.OutOfMemoryError)):
        ALL_WRITERS[written](tmp_path / "x", table)


def test_what_a_null_leaves_undefined_is_no_error(tmp_path):
    keys = pa.array([0, None, 1], pa.int8())
    table = pa.table({"x": pa.DictionaryArray.from_arrays(keys, ["a", "b"]), "y": pa.array(["é", None, "x" * 40])})
    table = table.append_column("z", table["y"].cast(pa.string_view()))
    forthwith.write_avro(tmp_path / "x.avro", table)
    read = forthwith.open(tmp_path / "x.avro").arrays()
    assert read["x"].tolist() == ["a", None, "b"]
    assert read["z"].tolist() == read["y"].tolist() == ["é", None, "x" * 40]


def unscaled(type, whole):
    """A decimal of any value: Arrow's types have room for more digits than they say."""
    size = type.byte_width
    return pa.Array.from_buffers(type, 1, [None, pa.py_buffer(whole.to_bytes(size, "little", signed=True))])


DECIMALS = [
    (pa.decimal32(3, 1), 1000),
    (pa.decimal64(11, 0), 10**11),
    *[(pa.decimal128(digits, 2), -(10**digits)) for digits in (3, 9, 10, 18, 19, 38)],
    *[(pa.decimal256(digits, 1), 10**digits) for digits in (5, 39, 76)],
]


@pytest.mark.parametrize("within", ["column", "list", "struct", "second batch", "below a null"])
@pytest.mark.parametrize(("type", "whole"), DECIMALS)
@pytest.mark.parametrize("written", WRITERS)
def test_decimals_of_more_digits_than_their_type_are_an_error_that_names_column_and_entry(
    tmp_path, written, type, whole, within
):
    sound, null = whole - (1 if whole > 0 else -1), within == "below a null"
    for value, wrong in ((whole, not null), (sound, False)):
        column = pa.chunked_array([unscaled(type, 1), unscaled(type, value)])
        if within == "list":
            column = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), column.combine_chunks())
        elif within == "struct":
            column = pa.StructArray.from_arrays([column.combine_chunks()], ["inner"])
        elif null:
            column = pa.Array.from_buffers(type, 2, [pa.py_buffer(b"\x01"), column.combine_chunks().buffers()[1]])
        path, table = tmp_path / f"{wrong}.{written}", pa.table({"price": column})
        if not wrong:
            WRITERS[written](path, table)
            assert len(forthwith.open(path)["price"].array()) == 2
            continue
        with pytest.raises(forthwith.RequestError, match="more digits than decimal") as caught:
            WRITERS[written](path, table)
        assert "price" in str(caught.value)
        assert caught.value.entry == 1
        assert not path.exists()
