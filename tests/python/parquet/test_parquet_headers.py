"""Parquet files whose headers and footers contradict their bytes, or say more than is known: pyarrow is the judge."""

import io
import itertools
import random

import parquet_patches as patches
import pytest
from conftest import DATA
from parquet_patches import BINARY, BYTE, FALSE, I32, I64, LIST, STRUCT, TRUE, Field, File, Items

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = {
    "flat": pa.array([n * n for n in range(200)], pa.int64()),
    "optional": pa.array([None if n % 3 == 0 else n / 8 for n in range(200)], pa.float32()),
    "text": pa.array(["abc"[: n % 4] for n in range(200)]),
    "lists": pa.array([[n, None][: n % 3] for n in range(200)], pa.list_(pa.int16())),
    "nothing": pa.array([None] * 200, pa.int32()),
}
REQUIRED = ["flat"]


def made(name, codec="snappy", version="2.0", dictionary=False):
    field = pa.field(name, COLUMNS[name].type, nullable=name not in REQUIRED)
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table([COLUMNS[name]], schema=pa.schema([field])),
        sink,
        compression=codec,
        data_page_version=version,
        use_dictionary=dictionary,
    )
    return sink.getvalue().to_pybytes()


def agree(data, name, word=None):
    found, theirs, ours = patches.verdict(data, name)
    assert found != "DIFFERENT", (theirs, ours)
    assert word is None or found == word, (found, theirs, ours)
    return ours


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("name", COLUMNS)
def test_each_number_of_a_header_may_lie(name, codec):
    header = {"uncompressed": 2, "compressed": 3}
    inner = {"values": 1, "nulls": 2, "rows": 3, "encoding": 4, "definition": 5, "repetition": 6}
    for dictionary, (word, number) in itertools.product((False, True), [*header.items(), *inner.items()]):
        data = made(name, codec, dictionary=dictionary)
        now = (File(data).pages[-1].header if word in header else File(data).pages[-1].inner)[number].value
        lies = range(10) if word == "encoding" else {now - 1, now + 1, now + 8, 2 * now, 0, -1, (1 << 31) - 1} - {now}
        for lie in lies:
            file = File(data)
            page = file.pages[-1]
            (page.header if word in header else page.inner)[number].value = lie
            agree(file.put_together(), name)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("says", [True, False, None])
@pytest.mark.parametrize("name", COLUMNS)
def test_whether_a_page_is_compressed(name, says, codec):
    file = File(made(name, codec))
    for page in file.pages:
        if says is None:
            page.inner.pop(7, None)
        else:
            page.inner[7] = Field(TRUE, says)
    agree(file.put_together(), name)


@pytest.mark.parametrize("name", COLUMNS)
def test_pages_that_were_always_compressed(name):
    """Version 1 of the reference library said of compressed pages that they are not."""
    file = File(made(name))
    for page in file.pages:
        if not page.inner[7].value:
            levels = page.inner[5].value + page.inner[6].value
            page.body = page.body[:levels] + pa.compress(page.body[levels:], "snappy", asbytes=True)
            page.header[3].value = len(page.body)
        page.inner[7] = Field(FALSE, False)
    file.footer[6] = Field(BINARY, b"parquet-cpp version 1.5.1-SNAPSHOT")
    assert agree(file.put_together(), name, "same") == COLUMNS[name].to_pylist()
    file.footer[6] = Field(BINARY, b"some other writer")
    if name == "nothing":
        assert agree(file.put_together(), name, "same") == COLUMNS[name].to_pylist()
        return
    with pytest.raises(forthwith.DamagedFileError):
        forthwith.open(io.BytesIO(file.put_together()))[name].array(library="np")


def test_numbers_that_compress_to_more_bytes_are_not_read_as_numbers():
    """As they would be, wherever the bytes suffice."""
    random = pa.array([n * 0x9E3779B97F4A7C15 % (1 << 64) for n in range(500)], pa.uint64())
    sink = pa.BufferOutputStream()
    schema = pa.schema([pa.field("x", pa.uint64(), nullable=False)])
    pq.write_table(
        pa.table([random], schema=schema), sink, compression="zstd", data_page_version="2.0", use_dictionary=False
    )
    file = File(sink.getvalue().to_pybytes())
    # Compressed in any case, and said not to be.
    body = pa.compress(random.buffers()[1].to_pybytes()[:4000], "zstd", asbytes=True)
    page = file.pages[0]
    page.body, page.header[3].value = body, len(body)
    assert len(body) > 4000
    page.inner[7] = Field(FALSE, False)
    with pytest.raises(forthwith.DamagedFileError, match="not to be compressed"):
        forthwith.open(io.BytesIO(file.put_together()))["x"].array(library="np")
    page.inner[7] = Field(TRUE, True)
    assert agree(file.put_together(), "x", "same") == random.to_pylist()


def test_random_changes():
    told, different = patches.campaign(seed=20261122, files=60, changes=4)
    assert not different
    assert sum(count for (word, _), count in told.items() if word == "same") > 50


def unknown_struct():
    return {1: Field(I32, 5), 77: Field(BINARY, b"?"), 99: Field(STRUCT, {1: Field(TRUE, True)})}


def items(kind, *values):
    made = Items(values)
    made.kind = kind
    return Field(LIST, made)


def chunks(file):
    return [chunk[3].value for group in file.row_groups for chunk in group[1].value]


FOOTERS = {
    "sorting columns of numbers": lambda file: [group.update({4: items(I32, 1, 2)}) for group in file.row_groups],
    "sorting columns that are none": lambda file: [
        group.update({4: items(STRUCT, {1: Field(BINARY, b"x"), 2: Field(I64, 1)})}) for group in file.row_groups
    ],
    "no repetition at a column": lambda file: file.leaves()[0].pop(3),
    "a dictionary at 0": lambda file: [chunk.update({11: Field(I64, 0)}) for chunk in chunks(file)],
    "unknown fields": lambda file: [
        part.update({60: Field(STRUCT, unknown_struct()), 61: items(BINARY, b"a", b"b")})
        for part in [file.footer, *file.row_groups, *chunks(file), *file.schema]
    ],
    "an unknown logical type": lambda file: file.leaves()[0].update(
        {10: Field(STRUCT, {99: Field(STRUCT, unknown_struct())})}
    ),
    "an unknown older type": lambda file: file.leaves()[0].update({6: Field(I32, 77)}),
    "unknown encodings": lambda file: [chunk.update({2: items(I32, 0, 3, 40, 1000, -1)}) for chunk in chunks(file)],
    "unknown orders": lambda file: file.footer.update({7: items(STRUCT, {9: Field(STRUCT, {})})}),
    "statistics of numbers": lambda file: [
        chunk.update({12: Field(STRUCT, unknown_struct())}) for chunk in chunks(file)
    ],
    "statistics in text": lambda file: [chunk.update({12: Field(BINARY, b"?")}) for chunk in chunks(file)],
    "no words": lambda file: file.footer.pop(5, None),
    "odd words": lambda file: file.footer.update({5: items(STRUCT, {1: Field(BINARY, b"key \xff")}, {})}),
    "Arrow's schema of something else": lambda file: file.footer.update(
        {5: items(STRUCT, {1: Field(BINARY, b"ARROW:schema"), 2: Field(BINARY, b"AAAA")})}
    ),
    "a field number": lambda file: file.leaves()[0].update({9: Field(I32, -5)}),
    "a version of tomorrow": lambda file: file.footer.update({1: Field(I32, 17)}),
    "a list that says it is a set": lambda file: file.footer.update({8: Field(BYTE, 3)}),
    "no writer": lambda file: file.footer.pop(6),
}


@pytest.mark.parametrize("what", FOOTERS)
@pytest.mark.parametrize("name", ["flat", "lists"])
def test_footers_of_other_writers(name, what):
    file = File(made(name))
    if what == "no repetition at a column":
        name, file = "flat", File(made("flat"))
    FOOTERS[what](file)
    data = file.put_together()
    found, theirs, ours = patches.verdict(data, name)
    assert found in ("same", "they refuse"), (theirs, ours)
    if "type" not in what:
        assert ours == COLUMNS[name].to_pylist()
    table = forthwith.open(io.BytesIO(data))
    assert table.chunks(name)[0]["stored_bytes"] > 0
    assert table.typenames()


def test_a_size_below_zero_is_told_as_it_is():
    file = File(made("flat"))
    file.pages[0].header[3].value = -5
    with pytest.raises(forthwith.DamagedFileError, match="length of a page is -5"):
        forthwith.open(io.BytesIO(file.put_together()))["flat"].array(library="np")


def test_footers_that_promise_more_than_their_bytes(tmp_path):
    for change in (
        lambda file: file.schema[0].update({5: Field(I32, 1 << 30)}),
        lambda file: file.schema.pop(),
        lambda file: file.schema[0].update({5: Field(I32, 0)}),
        lambda file: file.row_groups[0].pop(1),
        lambda file: file.row_groups[0][1].value.clear(),
        lambda file: file.row_groups[0][1].value[0].pop(3),
        lambda file: [chunk.pop(9) for chunk in chunks(file)],
        lambda file: [chunk.pop(4) for chunk in chunks(file)],
    ):
        file = File(made("lists"))
        data = file.put_together()
        change(file)
        footer = patches.struct(file.footer)
        body = data[: -8 - int.from_bytes(data[-8:-4], "little")]
        data = body + footer + len(footer).to_bytes(4, "little") + b"PAR1"
        with pytest.raises(forthwith.ForthwithError):
            forthwith.open(io.BytesIO(data))["lists"].array(library="np")


def nested(version, codec):
    """Lists, records in them, maps and nulls, in several pages a chunk."""
    rows = 240
    lists = [None if n % 11 == 5 else list(range(n % 4)) for n in range(rows)]
    records = [[{"a": n, "b": [str(n)] * (n % 3)} for _ in range(n % 3)] for n in range(rows)]
    maps = [[(str(k), None if k == n % 5 else k) for k in range(n % 3)] for n in range(rows)]
    columns = {
        "lists": pa.array(lists, pa.list_(pa.int16())),
        "records": pa.array(records, pa.list_(pa.struct({"a": pa.int64(), "b": pa.list_(pa.string())}))),
        "maps": pa.array(maps, pa.map_(pa.string(), pa.int8())),
        "nothing": pa.array([[None] * (n % 3) for n in range(rows)], pa.list_(pa.int32())),
    }
    sink = pa.BufferOutputStream()
    settings = {"data_page_size": 256, "write_batch_size": 32, "row_group_size": 150, "data_page_version": version}
    pq.write_table(pa.table(columns), sink, compression=codec, use_dictionary=["maps.key_value.key"], **settings)
    return sink.getvalue().to_pybytes()


#: Bits of each file that are tried; there are some ten times as many.
FLIPS = 600


def flips(data):
    """Each bit of each page's header, by its place in the file, with the name of the column."""
    for chunk, _ in (file := File(data)).chunks:
        meta = chunk[3].value
        start = min(meta[n].value for n in (9, 11) if n in meta and meta[n].value > 0)
        end = start + meta[7].value
        while start < end:
            reader = patches.Reader(data, start)
            length = reader.struct()[3].value
            for at in range(start, reader.at):
                yield from ((meta[3].value[0].decode(), at, bit) for bit in range(8))
            start = reader.at + length
    assert file.chunks


def parted(data, flipped, at):
    """The page whose header is at a place, of both files."""
    for chunk, _ in File(data).chunks:
        meta = chunk[3].value
        start = min(meta[n].value for n in (9, 11) if n in meta and meta[n].value > 0)
        end = start + meta[7].value
        while start < end:
            reader = patches.Reader(data, start)
            header = reader.struct()
            if start <= at < reader.at:
                return [patches.Page(patches.Reader(bytes(it), start).struct(), b"") for it in (data, flipped)]
            start = reader.at + header[3].value
    raise AssertionError("no header is there")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "codec"), [("1.0", "none"), ("2.0", "none"), ("1.0", "snappy"), ("2.0", "zstd"), ("bundled", None)]
)
def test_no_bit_of_a_header_changes_a_value(version, codec):
    """A header has no checksum: whatever it says is compared with the footer and with the bytes."""
    data = (DATA / "parquet" / "checksums.parquet").read_bytes() if codec is None else nested(version, codec)
    truth = {}
    changed = list(flips(data))
    for name, at, bit in random.Random(f"{version}{codec}").sample(changed, min(FLIPS, len(changed))):
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        if name not in truth:
            truth[name] = patches.of_forthwith(data, name)
            assert not isinstance(truth[name], Exception)
        found = patches.of_forthwith(bytes(flipped), name, threads=1 + at % 2)
        if isinstance(found, Exception) or found == truth[name]:
            continue
        raise AssertionError((name, at, bit, parted(data, flipped, at)))


def test_errors_of_headers_say_where_they_are():
    """The byte of an error is that of the file for the footer, and that of the chunk for the header of a page."""
    data = made("flat", "none", dictionary=True)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    column = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    first, second = column.dictionary_page_offset, column.data_page_offset
    for begin, length, origin in ((footer, 40, 0), (second, 12, first)):
        found = set()
        for at in range(begin, begin + length):
            try:
                forthwith.open(io.BytesIO(data[:at] + b"\xff" + data[at + 1 :])).arrays()
            except forthwith.DamagedFileError as error:
                found.add(error.byte)
        assert len(found) > 3, found
        assert min(found) >= begin - origin, found
