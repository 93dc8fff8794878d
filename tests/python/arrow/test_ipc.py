"""Arrow's IPC format, files and streams, against pyarrow and polars."""

import contextlib
import datetime
import decimal
import io
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import feather, ipc

import forthwith

ZONE = "Europe/Berlin"
TEXTS = ["", "a", "ß", "longer than the twelve bytes of a view", "日本"]


def scalar(rng):
    """A type without items, and a function that makes a value of it."""
    bits = rng.choice([8, 16, 32, 64])
    signed, unsigned = getattr(pa, f"int{bits}")(), getattr(pa, f"uint{bits}")()
    unit = rng.choice(["ms", "us", "ns"])
    moment = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
    return rng.choice(
        [
            (signed, lambda: rng.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))),
            (unsigned, lambda: rng.randrange(2**bits)),
            (pa.float32(), lambda: rng.randrange(-1000, 1000) / 4),
            (pa.float64(), lambda: rng.gauss(0, 1)),
            (pa.bool_(), lambda: rng.random() < 0.5),
            (pa.string(), lambda: rng.choice(TEXTS)),
            (pa.large_string(), lambda: rng.choice(TEXTS)),
            (pa.string_view(), lambda: rng.choice(TEXTS)),
            (pa.binary(), lambda: rng.randbytes(rng.randrange(4))),
            (pa.binary(3), lambda: rng.randbytes(3)),
            (pa.date32(), lambda: datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(-9999, 9999))),
            (pa.time32("ms"), lambda: datetime.time(1, 2, rng.randrange(60))),
            (pa.time64("us"), lambda: datetime.time(1, 2, 3, rng.randrange(1000000))),
            (pa.timestamp(unit), lambda: moment.replace(tzinfo=None) + datetime.timedelta(rng.randrange(99))),
            (pa.timestamp(unit, "UTC"), lambda: moment + datetime.timedelta(rng.randrange(99))),
            (pa.duration("ms"), lambda: datetime.timedelta(milliseconds=rng.randrange(10**6))),
            (pa.decimal128(9, 2), lambda: decimal.Decimal(rng.randrange(-(10**9) + 1, 10**9)).scaleb(-2)),
            (pa.dictionary(pa.int8(), pa.string()), lambda: rng.choice(TEXTS)),
            (pa.dictionary(pa.uint16(), pa.int64()), lambda: rng.randrange(9)),
        ]
    )


def nested(rng, depth):
    """A type, and a function that makes a value of it or None."""
    kind = rng.choice(["scalar", "list", "large", "fixed", "struct", "map"]) if depth else "scalar"
    if kind == "scalar":
        of, make = scalar(rng)
    elif kind == "struct":
        fields = {name: nested(rng, depth - 1) for name in "xyz"[: rng.randrange(1, 4)]}
        of = pa.struct([(name, of) for name, (of, _) in fields.items()])

        def make():
            return {name: make() for name, (_, make) in fields.items()}
    elif kind == "map":
        inner, item = nested(rng, depth - 1)
        of = pa.map_(pa.string(), inner)

        def make():
            return [(text, item()) for text in rng.sample(TEXTS, rng.randrange(3))]
    else:
        inner, item = nested(rng, depth - 1)
        size = rng.randrange(1, 3) if kind == "fixed" else -1
        of = pa.large_list(inner) if kind == "large" else pa.list_(inner, size)

        def make():
            return [item() for _ in range(rng.randrange(4) if size < 0 else size)]

    return of, lambda: None if rng.random() < 0.2 else make()


def random_batches(rng):
    columns = {f"c{at}": nested(rng, rng.randrange(3)) for at in range(rng.randrange(1, 5))}
    schema = pa.schema([(name, of) for name, (of, _) in columns.items()])
    for _ in range(rng.randrange(4)):
        rows = [{name: make() for name, (_, make) in columns.items()} for _ in range(rng.randrange(6))]
        yield pa.RecordBatch.from_pylist(rows, schema)
    yield pa.RecordBatch.from_pylist([dict.fromkeys(columns)], schema)


def write(path, batches, how, compression):
    options = ipc.IpcWriteOptions(compression=compression, emit_dictionary_deltas=True)
    if how == "file":
        options = ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
        batches = pa.Table.from_batches(batches).unify_dictionaries().to_batches()
    with getattr(ipc, f"new_{how}")(path, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)


class Counted(io.BytesIO):
    """A file that counts the bytes that are read."""

    bytes = 0

    def readinto(self, buffer):
        count = super().readinto(buffer)
        self.bytes += count
        return count

    def read(self, size=-1):
        data = super().read(size)
        self.bytes += len(data)
        return data


@pytest.mark.parametrize("how", ["file", "stream"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_random_tables(tmp_path, how, compression):
    for seed in range(40):
        batches = list(random_batches(random.Random(seed)))
        path = tmp_path / f"{seed}.arrow"
        write(path, batches, how, compression)
        wanted = pa.Table.from_batches(batches).to_pylist()
        with forthwith.open(path) as file:
            found = file.arrays(library="arrow")
            assert found.to_pylist() == wanted, (seed, batches[0].schema)
            half = len(wanted) // 2
            part = file.arrays(entry_start=half, threads=1, library="arrow")
            assert part.to_pylist() == wanted[half:], seed


def test_streams_replace_dictionaries(tmp_path):
    first = pa.record_batch({"c": pa.array(["a", "b"]).dictionary_encode()})
    second = pa.record_batch({"c": pa.array(["x", "a"]).dictionary_encode()})
    with ipc.new_stream(tmp_path / "s.arrow", first.schema) as writer:
        writer.write_batch(first)
        writer.write_batch(second)
    assert forthwith.open(tmp_path / "s.arrow").arrays()["c"].to_list() == ["a", "b", "x", "a"]


def test_own_files_come_back(tmp_path):
    rows = [{"x": 1, "s": "a", "l": [1.5]}, {"x": 2, "s": None, "l": []}]
    forthwith.write_parquet(tmp_path / "a.parquet", rows)
    for name in ("b.arrow", "b.feather"):
        command = [sys.executable, "-m", "forthwith", "convert", tmp_path / "a.parquet", tmp_path / name]
        subprocess.run(command, check=True, capture_output=True)
        assert forthwith.open(tmp_path / name).arrays(library="arrow").to_pylist() == rows


def test_dictionaries_come_back_as_such(tmp_path):
    table = pa.table({"c": pa.array(["b", None, "a", "b"]).dictionary_encode(), "x": [1, 2, 3, 4]})
    feather.write_feather(table, tmp_path / "f.feather")
    found = forthwith.open(tmp_path / "f.feather").arrays(library="arrow")
    assert found.to_pylist() == table.to_pylist()
    assert pa.types.is_dictionary(found.schema.field("c").type)


def test_feather_of_pyarrow_and_polars(tmp_path):
    table = pa.table({"x": [1, None, 3], "s": ["a", "b", None]})
    feather.write_feather(table, tmp_path / "f.feather")
    assert forthwith.open(tmp_path / "f.feather").arrays(library="arrow").to_pylist() == table.to_pylist()
    polars = pytest.importorskip("polars")
    polars.from_arrow(table).write_ipc(tmp_path / "p.arrow", compression="zstd")
    assert forthwith.open(tmp_path / "p.arrow").arrays(library="arrow").to_pylist() == table.to_pylist()


def test_one_column_is_read_without_the_others(tmp_path):
    table = pa.table({"a": list(range(1000)), "b": ["x" * 100] * 1000})
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    file = Counted((tmp_path / "a.arrow").read_bytes())
    tree = forthwith.open(file)
    file.bytes = 0
    assert tree.arrays(["a"])["a"].to_list() == list(range(1000))
    assert file.bytes < 9000


def test_the_command_reads_what_it_writes(tmp_path):
    forthwith.write_parquet(tmp_path / "a.parquet", {"x": [1, 2], "s": ["a", "b"]})
    command = [sys.executable, "-m", "forthwith"]
    subprocess.run([*command, "convert", tmp_path / "a.parquet", tmp_path / "o.arrow"], check=True, capture_output=True)
    done = subprocess.run([*command, "head", tmp_path / "o.arrow"], check=True, capture_output=True, text=True)
    assert "s" in done.stdout


def test_damage_is_an_error(tmp_path):
    table = pa.table(
        {"l": [[1, 2], [3], None], "s": ["a", "bb", None], "d": pa.array(["u", "v", "u"]).dictionary_encode()}
    )
    for how, compression in (("file", None), ("stream", "lz4"), ("file", "zstd")):
        target = io.BytesIO()
        write(target, table.to_batches(), how, compression)
        sound = target.getvalue()
        rng = random.Random(7)
        for _ in range(300):
            data = bytearray(sound)
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(8, len(data))] = rng.choice([0, 1, 127, 128, 255])
            if rng.random() < 0.2:
                del data[rng.randrange(8, len(data)) :]
            with contextlib.suppress(forthwith.ForthwithError):
                forthwith.open(io.BytesIO(bytes(data))).arrays()


def test_few_bytes_that_stand_for_more_than_memory_holds():
    text = "x" * 2_000_000
    keys = pa.array([0] * 3_000_000, pa.int8())
    batch = pa.record_batch({"c": pa.DictionaryArray.from_arrays(keys, pa.array([text], pa.large_string()))})
    target = io.BytesIO()
    with ipc.new_file(target, batch.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    file = forthwith.open(target)
    with pytest.raises(forthwith.OutOfMemoryError, match="dictionary"):
        file.arrays()


def test_unions_of_missing_values(tmp_path):
    tags, offsets = pa.array([0, 1, 0, 1], pa.int8()), pa.array([0, 0, 1, 1], pa.int32())
    members = [pa.array([1, None]), pa.array(["a", None])]
    for union in (
        pa.UnionArray.from_dense(tags, offsets, members),
        pa.UnionArray.from_sparse(tags, [pa.array([1, 2, None, 4]), pa.array(["a", "b", "c", None])]),
    ):
        table = pa.table({"u": union})
        with ipc.new_file(tmp_path / "u.arrow", table.schema) as writer:
            writer.write_table(table)
        found = forthwith.open(tmp_path / "u.arrow").arrays()["u"].to_list()
        assert found == table["u"].to_pylist()


def test_unsupported_columns_are_named(tmp_path):
    table = pa.table({"r": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()), "x": [1, 2]})
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    file = forthwith.open(tmp_path / "a.arrow")
    assert file.arrays(["x"])["x"].to_list() == [1, 2]
    with pytest.raises(forthwith.UnsupportedError, match="Interval"):
        file.arrays(["r"])


def encoded(random, rows, depth=2):
    """An array with runs or list views in it."""
    kind = random.integers(0, 6 if depth else 3)
    numbers = pa.array(random.integers(0, 3, rows), mask=random.random(rows) < 0.2)
    if kind == 0:
        return numbers
    if kind == 1:
        return pc.dictionary_encode(numbers.cast(pa.string())) if random.random() < 0.5 else numbers.cast(pa.string())
    if kind == 2:
        ends = np.unique(np.append(random.integers(1, rows + 1, rows // 2), rows)) if rows else np.array([], "i4")
        values = encoded(random, len(ends), 0)
        if isinstance(values, pa.RunEndEncodedArray):
            values = values.values.slice(0, 0) if not len(ends) else pa.array(values.to_pylist())
        ends = pa.array(ends, [pa.int16(), pa.int32(), pa.int64()][random.integers(0, 3)])
        return pa.RunEndEncodedArray.from_arrays(ends, values)
    items = encoded(random, int(random.integers(0, 2 * rows + 2)), depth - 1)
    if kind == 3:
        sizes = random.integers(0, min(len(items), 4) + 1, rows)
        offsets = np.array([random.integers(0, len(items) - size + 1) for size in sizes], dtype=np.int64)
        of, dtype = (pa.ListViewArray, "i4") if random.random() < 0.5 else (pa.LargeListViewArray, "i8")
        mask = pa.array(random.random(rows) < 0.2)
        return of.from_arrays(pa.array(offsets.astype(dtype)), pa.array(sizes.astype(dtype)), items, mask=mask)
    if kind == 4:
        offsets = np.sort(random.integers(0, len(items) + 1, rows + 1)).astype("i4")
        return pa.ListArray.from_arrays(pa.array(offsets), items)
    return pa.StructArray.from_arrays([encoded(random, rows, depth - 1), numbers], ["a", "b"])


@pytest.mark.parametrize("seed", range(60))
def test_runs_and_list_views(seed, tmp_path):
    random = np.random.default_rng(seed)
    rows = int(random.integers(0, 40))
    table = pa.table({f"c{at}": encoded(random, rows) for at in range(4)})
    start = int(random.integers(0, rows + 1)) if seed % 2 else 0
    part = table.slice(start)
    begin = ipc.new_file if seed % 3 else ipc.new_stream
    options = ipc.IpcWriteOptions(compression=[None, "lz4", "zstd"][seed % 3])
    with begin(tmp_path / "a.arrow", table.schema, options=options) as writer:
        writer.write_table(part, max_chunksize=max(1, rows // 2))
    want = {name: ipc_values(part[name]) for name in table.column_names}
    file = forthwith.open(tmp_path / "a.arrow")
    found = file.arrays()
    for name in table.column_names:
        assert found[name].to_list() == want[name], (name, table.schema.field(name).type)
        assert pa.table(file.select([name]))[name].to_pylist() == want[name]


def ipc_values(column):
    """Python's values, of dictionaries and runs within others as well."""
    return pa.chunked_array(column.chunks, column.type).to_pylist()


def test_few_bytes_of_runs_are_many_rows(tmp_path):
    path = tmp_path / "a.arrow"
    long = pa.RunEndEncodedArray.from_arrays(
        pa.array([3_000_000, 5_000_000], pa.int32()), pa.array([1, None], pa.int8())
    )
    with ipc.new_stream(path, pa.schema({"r": long.type})) as writer:
        writer.write_table(pa.table({"r": long}))
    assert path.stat().st_size < 1000
    found = pa.table(forthwith.open(path))["r"]
    assert (len(found), found.null_count) == (5_000_000, 2_000_000)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(1 << 16, "i1")), 1 << 16)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([4000], pa.int32()), lists)
    with ipc.new_stream(path, pa.schema({"r": runs.type})) as writer:
        writer.write_table(pa.table({"r": runs}))
    # A place for each item, which may be missing, is more than the item.
    with pytest.raises(forthwith.OutOfMemoryError):
        forthwith.open(path, memory="1 GB").arrays()


def test_runs_that_lie_are_refused(tmp_path):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 9], pa.int32()), pa.array([1.5, None, 2.5]))
    path = tmp_path / "a.arrow"
    with ipc.new_stream(path, pa.schema({"r": runs.type})) as writer:
        writer.write_table(pa.table({"r": runs}))
    raw = path.read_bytes()
    at = raw.index(np.array([2, 5, 9], "i4").tobytes())
    assert forthwith.open(path).arrays()["r"].to_list() == runs.to_pylist()
    for ends in ([2, 2, 9], [5, 2, 9], [2, 5, 8], [-2, 5, 9], [0, 5, 9]):
        path.write_bytes(raw[:at] + np.array(ends, "i4").tobytes() + raw[at + 12 :])
        with pytest.raises(forthwith.DamagedFileError, match="run"):
            forthwith.open(path).arrays()


def test_a_file_that_is_cut_off(tmp_path):
    table = pa.table({"x": list(range(100))})
    with ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    data = (tmp_path / "a.arrow").read_bytes()
    with pytest.raises(forthwith.DamagedFileError, match="cut off"):
        forthwith.open(io.BytesIO(data[:-20]))


def growing_dictionaries(rng, batches):
    """A column whose dictionary grows by deltas and is replaced now and then; its type of values is random."""
    of = rng.choice([pa.string(), pa.string_view(), pa.int64()])
    texts = iter(range(10**9))
    known = []
    for _ in range(batches):
        if rng.random() < 0.1:
            known = []
        known += [next(texts) for _ in range(rng.randrange(3))] or ([] if known else [next(texts)])
        values = [number if of == pa.int64() else f"text number {number}" for number in known]
        keys = [None if rng.random() < 0.1 else rng.randrange(len(known)) for _ in range(rng.randrange(5))]
        column = pa.DictionaryArray.from_arrays(pa.array(keys, pa.int32()), pa.array(values, of))
        yield pa.record_batch({"c": column})


def test_deltas_and_replaced_dictionaries(tmp_path):
    for seed in range(20):
        rng = random.Random(seed)
        batches = list(growing_dictionaries(rng, rng.randrange(1, 60)))
        write(tmp_path / "d.arrow", batches, "stream", None)
        wanted = [value for batch in batches for value in batch["c"].to_pylist()]
        file = forthwith.open(tmp_path / "d.arrow")
        assert file.arrays()["c"].to_list() == wanted, seed
        for _ in range(10):
            start = rng.randrange(len(wanted) + 1)
            stop = rng.randrange(start, len(wanted) + 1)
            part = file.arrays(entry_start=start, entry_stop=stop, threads=rng.randrange(1, 3))
            assert part["c"].to_list() == wanted[start:stop], (seed, start, stop)


def test_few_bytes_that_stand_for_lists_of_more_than_memory_holds():
    lists = pa.array([[0] * 1_000_000] + [[]] * 100_000, pa.list_(pa.int64()))
    keys = pa.array([0] * 1_000_000, pa.int32())
    batch = pa.record_batch({"c": pa.DictionaryArray.from_arrays(keys, lists)})
    target = io.BytesIO()
    with ipc.new_file(target, batch.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    with pytest.raises(forthwith.OutOfMemoryError, match="dictionary"):
        forthwith.open(target).arrays()
