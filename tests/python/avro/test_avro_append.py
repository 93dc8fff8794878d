"""File objects that do not stand at their beginning: Avro files are appended to, others are refused."""

from __future__ import annotations

import io
import random

import fastavro
import polars as pl
import pytest

import forthwith

SCHEMA = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "int"}, {"name": "s", "type": ["null", "string"]}],
}
ROWS = [{"a": 1, "s": "x"}, {"a": 2, "s": None}]
MORE = [{"a": 3, "s": "y"}]


def read(path):
    """The rows of a file by fastavro, polars and here."""
    with open(path, "rb") as file:
        theirs = list(fastavro.reader(file))
    assert pl.read_avro(path).to_dicts() == theirs
    assert list(forthwith.open(path).rows()) == theirs
    return theirs


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "xz"])
@pytest.mark.parametrize("writer", ["forthwith", "fastavro"])
def test_blocks_are_appended(tmp_path, codec, writer):
    path = tmp_path / "f.avro"
    with open(path, "wb") as out:
        if writer == "fastavro":
            fastavro.writer(out, SCHEMA, ROWS, codec=codec)
        else:
            forthwith.write_avro(out, ROWS, SCHEMA, codec=codec)
    before = path.read_bytes()
    with open(path, "a+b") as file:
        forthwith.write_avro(file, MORE, SCHEMA)
    with open(path, "a+b") as file:
        forthwith.write_avro(file, {"a": [4], "s": ["z"]})
    with open(path, "r+b") as file:
        file.seek(0, 2)
        with forthwith.avro_writer(file, schema=SCHEMA, codec=codec) as out:
            out.write(MORE)
            out.write(iter(MORE))
    assert path.read_bytes().startswith(before)
    with open(path, "a+b") as file:
        fastavro.writer(file, SCHEMA, MORE)
    if codec in ("xz", "zstandard"):  # which polars does not have
        with open(path, "rb") as file:
            rows = list(fastavro.reader(file))
    else:
        rows = read(path)
    assert rows == [*ROWS, *MORE, {"a": 4, "s": "z"}, *MORE * 3]


def test_a_file_opened_for_appending_is_appended_to_wherever_it_stands(tmp_path):
    path = tmp_path / "f.avro"
    forthwith.write_avro(path, ROWS, SCHEMA)
    with open(path, "a+b") as file:
        file.seek(0)
        forthwith.write_avro(file, MORE, SCHEMA)
    assert read(path) == ROWS + MORE


def test_an_empty_file_opened_for_appending_is_begun(tmp_path):
    path = tmp_path / "f.avro"
    for rows in (ROWS, MORE):
        with open(path, "a+b") as file:
            forthwith.write_avro(file, rows, SCHEMA)
    assert read(path) == ROWS + MORE


def test_memory_is_appended_to():
    file = io.BytesIO()
    for rows in (ROWS, MORE):
        forthwith.write_avro(file, rows, SCHEMA)
    assert list(forthwith.open(file).rows()) == ROWS + MORE


def test_what_cannot_be_appended_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "f.avro"
    forthwith.write_avro(path, ROWS, SCHEMA, metadata={"k": "v"})
    before = path.read_bytes()
    other = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]}
    refused = [
        ("a+b", {"schema": other}, "schema"),
        ("a+b", {"schema": SCHEMA, "metadata": {"n": "1"}}, "metadata 'n'"),
        ("a+b", {"schema": SCHEMA, "marker": b"x" * 16}, "marker"),
        ("ab", {"schema": SCHEMA}, r"a\+b"),
    ]
    for mode, options, what in refused:
        with open(path, mode) as file, pytest.raises(forthwith.RequestError, match=what):
            forthwith.write_avro(file, ROWS, **options)
        assert path.read_bytes() == before
    with open(path, "a+b") as file, pytest.raises((ValueError, TypeError)):
        forthwith.write_avro(file, [{"a": "text", "s": None}], SCHEMA)
    assert path.read_bytes() == before
    with open(path, "a+b") as file:
        forthwith.write_avro(file, MORE, SCHEMA, metadata={"k": "v"})
    assert read(path) == ROWS + MORE


@pytest.mark.parametrize("damage", ["cut", "behind", "other"])
def test_nothing_is_put_behind_damage(damage):
    file = io.BytesIO()
    forthwith.write_avro(file, ROWS, SCHEMA)
    if damage == "cut":
        file.truncate(len(file.getvalue()) - 3)
    elif damage == "behind":
        file.write(b"more")
    else:
        file = io.BytesIO(b"something else, which is no Avro file at all")
    file.seek(0, 2)
    before = file.getvalue()
    with pytest.raises(ValueError):
        forthwith.write_avro(file, MORE, SCHEMA)
    assert file.getvalue() == before


def write_root(file):
    with forthwith.recreate(file) as out:
        out["t"] = {"x": [1, 2]}


@pytest.mark.parametrize("write", [lambda file: forthwith.write_parquet(file, {"x": [1, 2]}), write_root])
def test_other_formats_begin_at_the_beginning(tmp_path, write):
    path = tmp_path / "f"
    path.write_bytes(b"something")
    for mode in ("ab", "a+b", "r+b"):
        with open(path, mode) as file:
            file.seek(0, 2)
            with pytest.raises(forthwith.RequestError, match="byte 9"):
                write(file)
        assert path.read_bytes() == b"something"
    file = io.BytesIO(b"12345678")
    file.seek(8)
    with pytest.raises(forthwith.RequestError, match="byte 8"):
        write(file)
    assert file.getvalue() == b"12345678"


@pytest.mark.parametrize(
    "write",
    [
        lambda file: forthwith.write_parquet(file, {"x": [1, 2]}),
        lambda file: forthwith.write_avro(file, {"x": [1, 2]}),
        write_root,
    ],
)
def test_older_bytes_do_not_stay_behind(tmp_path, write):
    path = tmp_path / "f"
    path.write_bytes(b"old" * 10000)
    with open(path, "r+b") as file:
        write(file)
    fresh = io.BytesIO()
    write(fresh)
    assert path.stat().st_size < len(fresh.getvalue()) + 16
    (rows,) = [forthwith.open(f"{path}:t" if write is write_root else path).arrays().to_list()]
    assert rows == [{"x": 1}, {"x": 2}]


def test_random_appends(tmp_path):
    rng = random.Random(3)
    for at in range(10):
        path, codec = tmp_path / f"{at}.avro", rng.choice(["null", "deflate", "snappy", "bzip2"])
        expected = []
        for _step in range(rng.randint(1, 6)):
            rows = [
                {"a": rng.randrange(-9, 9), "s": rng.choice([None, "t" * rng.randrange(90)])}
                for _ in range(rng.randrange(50))
            ]
            expected += rows
            ours = rng.random() < 0.6 or codec == "snappy"
            with open(path, "a+b") as file:
                if ours:
                    forthwith.write_avro(file, rows, SCHEMA, codec=codec, block_bytes=rng.choice([None, 64]))
                else:
                    fastavro.writer(file, SCHEMA, rows, codec=codec)
        assert list(forthwith.open(path).rows()) == expected
