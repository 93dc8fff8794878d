"""CSV files: values and types that are found, against Python's own module, pyarrow and polars."""

import contextlib
import csv
import datetime
import io
import random
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet

import forthwith

BERLIN = datetime.timezone(datetime.timedelta(hours=1))
UTC = datetime.UTC


def read(text, **options):
    data = text.encode() if isinstance(text, str) else text
    return forthwith.open(io.BytesIO(data), format="CSV", **options)


def values(text, **options):
    return read(text, **options).arrays(library="arrow").to_pylist()


TEXTS = ["a", " ", "x,y", 'say "no"', "two\nlines", "ß日本", "a\r\nb", "'", "007", "-", "1 2", "NaN?", "\t;"]
KINDS = {
    "bool": lambda rng: rng.choice([True, False]),
    "int": lambda rng: rng.choice([0, 1, -1, 2**63 - 1, -(2**63), rng.randrange(-(10**6), 10**6)]),
    "unsigned": lambda rng: rng.choice([2**63, 2**64 - 1]),
    "float": lambda rng: rng.choice([0.5, -0.0, 1e300, 5e-324, 0.1, rng.gauss(0, 1)]),
    "date": lambda rng: datetime.date(rng.randrange(1, 9999), rng.randrange(1, 13), rng.randrange(1, 29)),
    "time": lambda rng: datetime.datetime(rng.randrange(1, 9999), 2, 3, 4, 5, 6, rng.randrange(10**6)),
    "zoned": lambda rng: datetime.datetime(rng.randrange(1900, 2200), 2, 3, 4, 5, tzinfo=rng.choice([UTC, BERLIN])),
    "text": lambda rng: rng.choice(TEXTS),
}


def spelled(value):
    """A value as a cell."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_random_tables(ending):
    for seed in range(150):
        rng = random.Random(f"{seed}{ending}")
        kinds = [rng.choice(list(KINDS)) for _ in range(rng.randrange(1, 6))]
        missing = rng.random() * 0.5
        # A column has at least one value: of no values, nothing says the type.
        rows = [
            [KINDS[kind](rng) if row == 0 or rng.random() > missing else None for kind in kinds]
            for row in range(rng.randrange(1, 30))
        ]
        names = [f"c{at}" for at in range(len(kinds))]
        separator = rng.choice(",;\t|")
        text = io.StringIO(newline="")
        if ending == "\r":
            # Python puts no quotes around line feeds then.
            rows = [[cell.replace("\n", " ") if isinstance(cell, str) else cell for cell in row] for row in rows]
        writer = csv.writer(text, delimiter=separator, lineterminator=ending)
        writer.writerow(names)
        for row in rows:
            if row == [None]:
                # Python writes quotes for it.
                text.write(ending)
            else:
                writer.writerow([None if cell is None else spelled(cell) for cell in row])
        found = values(text.getvalue(), separator=separator)
        wanted = [dict(zip(names, row, strict=True)) for row in rows]
        assert found == wanted, (seed, text.getvalue())
        # Without the signs of zeros, they would be equal.
        assert repr(found) == repr(wanted).replace(f"tzinfo={BERLIN!r}", "") or "zoned" in kinds


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], "?int64"),
        (["1", "2.5"], "?float64"),
        (["9007199254740993", "2.5"], "?string"),
        (["18446744073709551615", "0"], "?uint64"),
        (["18446744073709551615", "-1"], "?string"),
        (["007", "1"], "?string"),
        (["true", "False"], "?bool"),
        (["true", "1"], "?string"),
        (["nan", "-inf"], "?float64"),
        (["2024-02-30"], "?string"),
        (["", ""], "?string"),
    ],
)
def test_types_keep_each_cell(cells, kind):
    text = "x,y\n" + "".join(f"{cell},0\n" for cell in cells) + ",0\n"
    assert str(read(text).arrays().type).split(" * ", 1)[1].startswith(f"{{x: {kind}")
    # Behind the first block, too.
    late = "x,y\n" + "1,0\n" * 700_000 + "".join(f"{cell},0\n" for cell in cells)
    if kind == "?string" and any(cells) and "true" not in cells:
        assert read(late).arrays(["x"])["x"][-len(cells) :].to_list() == cells


def test_empty_texts_are_not_missing():
    assert values('s,n\n"",1\n,""\n') == [{"s": "", "n": 1}, {"s": None, "n": None}]
    assert values('s\n""\n\nx\n') == [{"s": ""}, {"s": None}, {"s": "x"}]
    assert values('n\r\n1\r\n""\r\n\r\n') == [{"n": 1}, {"n": None}, {"n": None}]


def test_lines_without_cells_are_no_records():
    assert values("a,b\n\n1,2\n\n\n3,4") == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_options():
    assert values("1,x\n2,y\n", header=False) == [
        {"column_1": 1, "column_2": "x"},
        {"column_1": 2, "column_2": "y"},
    ]
    assert values("a,b\n1,2\n", types={"a": "string", "b": "float64"}) == [{"a": "1", "b": 2.0}]
    with pytest.raises(forthwith.RequestError, match=r'no column is named "z"'):
        read("a\n1\n", types={"z": "int64"})
    with pytest.raises(forthwith.RequestError, match="bool, int64"):
        read("a\n1\n", types={"a": "int128"})
    with pytest.raises(forthwith.DamagedFileError, match="of type int64"):
        read("a\nx\n", types={"a": "int64"}).arrays()
    with pytest.raises(forthwith.RequestError, match="separator"):
        read("a\n1\n", separator="||")
    assert values(b"\xef\xbb\xbfa\n1\n") == [{"a": 1}]
    assert values("") == []
    assert read("a,b\n").keys() == ["a", "b"]


def test_what_is_no_table_names_the_line():
    with pytest.raises(forthwith.DamagedFileError, match="3 cells, where the first one has 2"):
        read("a,b\n1,2\n1,2,3\n").arrays()
    with pytest.raises(forthwith.DamagedFileError, match="UTF-8"):
        read(b"a\n\xff\n").arrays()


def test_names_tell_the_format(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    (tmp_path / "a.tsv").write_text("a\tb\n1\tx\n")
    for name in ("a.csv", "a.tsv"):
        assert forthwith.open(tmp_path / name).arrays(library="arrow").to_pylist() == [{"a": 1, "b": "x"}]


def table():
    moments = [datetime.datetime(2024, 2, 29, 1, 2, 3), None, datetime.datetime(1900, 1, 1)]
    return pa.table(
        {
            "i": pa.array([1, None, -3], pa.int64()),
            "u": pa.array([2**64 - 1, None, 0], pa.uint64()),
            "f": [0.1, None, float("inf")],
            "b": [True, None, False],
            "s": ['a,"b"\n', None, ""],
            "t": pa.array(moments, pa.timestamp("us")),
            "z": pa.array(moments, pa.timestamp("us", "UTC")),
            "d": [datetime.date(2024, 2, 29), None, datetime.date(1, 1, 1)],
        }
    )


def test_own_files_come_back(tmp_path):
    parquet.write_table(table(), tmp_path / "a.parquet")
    command = [sys.executable, "-m", "forthwith", "convert", tmp_path / "a.parquet", tmp_path / "a.csv"]
    subprocess.run(command, check=True, capture_output=True)
    with forthwith.open(tmp_path / "a.csv") as file:
        assert file.arrays(library="arrow").to_pylist() == table().to_pylist()
        assert file.arrays(["s", "i"], cut="i < 0", library="arrow").to_pylist() == [{"s": "", "i": -3}]
        assert len(list(file.iterate(step_size=2))) == 2
    for names in ("i", "s"):
        only = table().select([names])
        parquet.write_table(only, tmp_path / "b.parquet")
        subprocess.run(
            [*command[:-2], "-f", tmp_path / "b.parquet", tmp_path / "b.csv"], check=True, capture_output=True
        )
        assert forthwith.open(tmp_path / "b.csv").arrays(library="arrow").to_pylist() == only.to_pylist()


def test_the_command_reads_csv(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,\n")
    command = [sys.executable, "-m", "forthwith"]
    for words in (["head", "a.csv"], ["count", "a.csv"], ["show", "a.csv"], ["check", "a.csv"], ["explain", "a.csv"]):
        done = subprocess.run([*command, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
        assert done.stdout
    (tmp_path / "a.txt").write_text("a;b\n1;x\n")
    words = ["cat", "a.txt", "--open", "format=csv", "--open", "separator=;"]
    done = subprocess.run([*command, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == '{"a":1,"b":"x"}\n'
    subprocess.run([*command, "convert", "a.csv", "a.parquet"], cwd=tmp_path, check=True, capture_output=True)
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


def test_blocks_and_pieces():
    # Quotes and line breaks lie across all places where text is divided.
    rng = random.Random(3)
    rows = [(at, rng.choice(TEXTS) * rng.randrange(1, 40)) for at in range(30_000)]
    for ending in ("\n", "\r\n"):
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator=ending)
        writer.writerow(["n", "s"])
        writer.writerows(rows)
        file = read(text.getvalue())
        found = file.arrays(library="arrow")
        assert found["n"].to_pylist() == [at for at, _ in rows]
        assert found["s"].to_pylist() == [text for _, text in rows]
        part = file.arrays(entry_start=12_345, entry_stop=23_456, threads=1, library="arrow")
        assert part["s"].to_pylist() == [text for _, text in rows[12_345:23_456]]


def test_polars_and_pandas_read_alike(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"i": [1, None, 3], "f": [1.5, 2.5, None], "s": ["a", None, "c"]})
    frame.write_csv(tmp_path / "a.csv")
    assert forthwith.open(tmp_path / "a.csv").arrays(library="pl").equals(frame)
    pandas = pytest.importorskip("pandas")
    file = forthwith.open(tmp_path / "a.csv")
    assert file.arrays(library="pd")["i"].to_list()[::2] == pandas.read_csv(tmp_path / "a.csv")["i"].to_list()[::2]


@pytest.mark.filterwarnings("ignore:several branches are called")
def test_mutated_files_are_errors_or_values():
    rng = random.Random(5)
    sound = b'a,b,c\n1,"x\n",2024-01-01\n2,,\n'
    for _ in range(1000):
        data = bytearray(sound)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.choice(b',"\n\r\x00\xff19-')
        with contextlib.suppress(forthwith.ForthwithError):
            read(bytes(data)).arrays()


def test_a_byte_order_mark_in_a_text_is_kept(tmp_path):
    columns = {"\ufeffa": ["\ufeffx", "y"]}
    forthwith.write_csv(tmp_path / "a.csv", columns)
    assert forthwith.open(tmp_path / "a.csv").arrays(library="arrow").to_pydict() == columns
    forthwith.write_csv(tmp_path / "b.csv", columns, header=False)
    rows = forthwith.open(tmp_path / "b.csv", header=False).to_list()
    assert [row["column_1"] for row in rows] == columns["\ufeffa"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_first_byte_order_mark_is_none_of_the_text(end):
    marked = "\ufeff"
    text = end.join([f"{marked}a,b", f'{marked}1,"x""y"', f"{marked}2,z", f"{marked}3,w"])
    for last in ("", end):
        found = [(row["a"], row["b"]) for row in values(text + last)]
        assert found == [(f"{marked}1", 'x"y'), (f"{marked}2", "z"), (f"{marked}3", "w")]
    found = values(f"{marked}1,2{end}3,4{end}", header=False)
    assert found == [{"column_1": 1, "column_2": 2}, {"column_1": 3, "column_2": 4}]


def test_a_file_object_that_was_cut_off_is_opened():
    with pytest.warns(forthwith.RecoveryWarning):
        opened = forthwith.open(io.BytesIO(b"a,b\n1,2\n3"), format="CSV", recover=True)
    assert opened.arrays().to_list() == [{"a": 1, "b": 2}]


def test_empty_lines_before_the_first_record_are_skipped(tmp_path):
    path = tmp_path / "blank.csv"
    for text, header, want in [
        ("\nabc\ndef\n", False, ["abc", "def"]),
        ("\r\n\nname\nabc\n\ndef\n", True, ["abc", None, "def"]),
        ("\n" * (3 << 20) + "abc\n", False, ["abc"]),
    ]:
        path.write_text(text, newline="")
        for threads in (1, 2):
            table = forthwith.open(path, header=header, threads=threads).arrays()
            assert table[table.fields[0]].to_list() == want


def test_times_with_and_without_a_zone_are_text(tmp_path):
    path = tmp_path / "times.csv"
    times = ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00", "2024-02-29 12:00:00.5+01:00"]
    path.write_text("t\n" + "\n".join(times) + "\n")
    assert forthwith.open(path).arrays()["t"].to_list() == times
