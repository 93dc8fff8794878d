"""Texts of Parquet as Arrow's views, made of dictionaries and pages without copying each text."""

import io
import random

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

SHORT, LONG = (0, 1, 3, 11, 12), (0, 1, 11, 12, 13, 16, 40, 127, 128, 300)
ALPHABETS = ("abc", "aöü€😀", "x\x00\x7f")
ENCODINGS = (None, "PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")


def column(draw, rows):
    """A column of random texts, few or many different ones, alone or in lists and structs."""
    lengths, alphabet = draw.choice([SHORT, LONG]), draw.choice(ALPHABETS)
    few = draw.choice([0, 1, 3, 50])
    missing = draw.choice([0, 0, 0.1, 0.9, 1])

    def made():
        return "".join(draw.choice(alphabet) for _ in range(draw.choice(lengths)))

    words = [made() for _ in range(few)]

    def text():
        return draw.choice(words) if words else made()

    def optional(value):
        return None if draw.random() < missing else value()

    def texts():
        return [optional(text) for _ in range(draw.choice([0, 1, 2, 5]))]

    kinds = {
        pa.string(): text,
        pa.binary(): lambda: text().encode() + draw.choice([b"", b"\xff"]),
        pa.list_(pa.string()): texts,
        pa.struct([("a", pa.string()), ("b", pa.int64())]): lambda: {"a": optional(text), "b": 1},
    }
    kind = draw.choice(list(kinds))
    return pa.array([optional(kinds[kind]) for _ in range(rows)], kind)


@pytest.mark.parametrize("seed", range(30))
def test_views_have_the_texts_that_pyarrow_reads(seed, tmp_path):
    draw = random.Random(seed)
    rows = draw.choice([0, 1, 100, 2000])
    table = pa.table({f"c{at}": column(draw, rows) for at in range(3)})
    encoding = draw.choice(ENCODINGS)
    options = {"use_dictionary": encoding is None}
    if encoding:
        options["column_encoding"] = {name: encoding for name in table.column_names if table[name].type == pa.string()}
    path = tmp_path / "made.parquet"
    pq.write_table(
        table,
        path,
        row_group_size=draw.choice([max(rows, 1), 777]),
        data_page_size=draw.choice([100, 5000, 1 << 20]),
        data_page_version=draw.choice(["1.0", "2.0"]),
        dictionary_pagesize_limit=draw.choice([50, 2000, 1 << 20]),
        compression=draw.choice(["none", "snappy", "zstd"]),
        **options,
    )
    wanted, frame = pq.read_table(path), pl.read_parquet(path)
    for threads in (1, 2):
        file = forthwith.open(path, threads=threads)
        step = draw.choice([None, 7, 250])
        read = pa.table(file.select(strings="string_view", **({"step_size": step} if step else {})))
        read.validate(full=True)
        assert read.cast(wanted.schema).equals(wanted)
        start = draw.randrange(rows + 1)
        stop = draw.randrange(start, rows + 1)
        part = file.arrays(library="pl", entry_start=start, entry_stop=stop)
        assert part.equals(frame.slice(start, stop - start))


def test_long_texts_of_a_dictionary_are_in_memory_once(tmp_path):
    words = ["a" * 100_000, "b" * 100_000]
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"text": [words[at % 2] for at in range(3000)]}), path)
    read = pa.table(forthwith.open(path).select(strings="string_view"))["text"]
    assert read.type == pa.string_view()
    assert read.nbytes < 1 << 20
    assert [len(text) for text in read.to_pylist()] == [100_000] * 3000
    assert forthwith.open(path).arrays(library="pl")["text"].n_unique() == 2


def test_text_that_is_not_utf8_is_named_with_its_row():
    text = pa.table({"text": pa.array(["fine", "a long text that is good", "a long text with ! in it"])})
    buffer = io.BytesIO()
    pq.write_table(text, buffer, use_dictionary=False, compression="none", write_statistics=False)
    damaged = buffer.getvalue().replace(b"with ! in", b"with \xff in")
    with pytest.raises(pa.ArrowInvalid, match="text that is not UTF-8"):
        pa.table(forthwith.open(io.BytesIO(damaged)).select(strings="string_view"))
    with pytest.raises(forthwith.DamagedFileError, match="text that is not UTF-8"):
        forthwith.open(io.BytesIO(damaged)).arrays(library="pl")


def test_steps_keep_the_items_that_they_use(tmp_path):
    words = [f"{at:06} " + "x" * 1000 for at in range(2000)]
    path = tmp_path / "steps.parquet"
    pq.write_table(pa.table({"text": words * 2}), path, dictionary_pagesize_limit=1 << 30)
    file = forthwith.open(path)
    for step in (1, 100, 1500):
        read = pa.table(file.select(strings="string_view", step_size=step))["text"]
        assert read.to_pylist() == words * 2
        # Each text is in each step once, and no other.
        assert sum(chunk.nbytes for chunk in read.chunks) < 2 * sum(map(len, words)) + 100_000


def test_texts_are_not_made_plain_where_views_are_cut(tmp_path):
    words = ["a" * 1_000_000, "b" * 1_000_000]
    path = tmp_path / "large.parquet"
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 50_000, pa.int32()), pa.array(words))
    pq.write_table(pa.table({"text": column}), path, store_schema=False, row_group_size=1 << 20)
    # 100 GB of text, of which two megabytes are different ones.
    read = pa.table(forthwith.open(path).select(strings="string_view", step_size=1000))
    assert (read.num_rows, read["text"].num_chunks) == (100_000, 100)
    assert read["text"][99_999].as_py() == words[1]
    assert forthwith.open(path).arrays(library="pl").height == 100_000
