"""Missing values in expressions: conditions as in SQL, and whether a value is missing."""

import datetime
import subprocess
import sys

import pyarrow as pa
import pytest
from random_missing import campaign

import forthwith

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def table(tmp_path):
    rows = {
        "i": [None, 1, 20],
        "s": ["zz", "zz", None],
        "l": pa.array([[1, None], None, []], pa.list_(pa.int64())),
        "day": [datetime.date(2024, 1, 31), None, datetime.date(1969, 12, 31)],
        "at": pa.array(
            [None, datetime.datetime(2024, 1, 1, 12, 30), datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)],
            pa.timestamp("us"),
        ),
        "utc": pa.array([0, 1_704_110_400_000, None], pa.timestamp("ms", "UTC")),
        "raw": pa.array([b"\xff", None, b""]),
    }
    pq.write_table(pa.table(rows), tmp_path / "k.parquet", row_group_size=2)
    with forthwith.open(tmp_path / "k.parquet") as opened:
        yield opened


def test_what_one_side_decides_does_not_need_the_other(table, tmp_path):
    for text, wanted in {
        'i > 10 or s == "zz"': [True, True, True],
        'not (i > 10 and s == "q")': [True, True, None],
        'i > 10 and s == "q"': [False, False, None],
        '(i < 10) & (s == "zz")': [None, True, False],
        '(i > 10) ^ (s == "zz")': [None, True, None],
        "0 < i < 10": [None, True, False],
        "i or True": [True, True, True],
        "i & 4": [None, 0, 4],
    }.items():
        assert table.arrays([text], how=tuple)[0].to_list() == wanted, text
        if "&" not in text or "<" in text:
            kept = table.arrays(["i"], cut=text).i.to_list()
            assert kept == [i for i, holds in zip([None, 1, 20], wanted, strict=True) if holds], text
    command = [sys.executable, "-m", "forthwith", "convert", f"{tmp_path}/k.parquet", f"{tmp_path}/out.parquet"]
    subprocess.run([*command, "-c", "s", "--where", 'i > 10 or s == "zz"'], check=True, capture_output=True)
    assert pq.read_table(tmp_path / "out.parquet")["s"].to_pylist() == ["zz", "zz", None]


def test_missing_values_are_told(table):
    for text, wanted in {
        "is_none(i)": [True, False, False],
        "not is_none(s) and i == 1": [None, True, False],
        "is_none(i) or i > 10": [True, False, True],
        "is_none(i > 10 or is_none(s))": [True, False, False],
        "is_none(l)": [[False, True], None, []],
        "is_none(l, axis=0)": [False, True, False],
        "is_none(max(l))": [False, True, True],
        "l[not is_none(l)]": [[1], None, []],
        "ak.is_none(day)": [False, True, False],
        "is_none(raw)": [False, True, False],
    }.items():
        assert table.arrays([text], how=tuple)[0].to_list() == wanted, text
    assert table.arrays(["i"], cut="is_none(i) or is_none(day)").i.to_list() == [None, 1]
    assert str(table.arrays(["is_none(i)"])["is_none(i)"].type) == "3 * bool"
    with pytest.raises(forthwith.RequestError, match=r"reduce it by any"):
        table.arrays(["i"], cut="is_none(l)")
    for wrong, match in (("is_none(l, axis=2)", "not along axis=2"), ("is_none(i, s)", "takes 1 argument")):
        with pytest.raises((forthwith.RequestError, forthwith.KeyInFileError)) as caught:
            table.arrays(["i"], cut=wrong)
        assert match in str(caught.value)


def test_dates_and_times_are_compared_with_texts(table):
    for text, wanted in {
        'day == "2024-01-31"': [True, None, False],
        'day < "1970-01-01"': [False, None, True],
        '"2024-01-31" <= day': [True, None, False],
        'day < "2024-01-31T12:00"': [True, None, True],
        'day == "2024-01-31T12:00" or is_none(day)': [False, True, False],
        'at > "2024-01-01T00:00:00"': [None, True, False],
        'at == "2024-01-01 12:30"': [None, True, False],
        'at >= "1969-12-31T23:59:59.5"': [None, True, True],
        'at > "1969-12-31T23:59:59.499999999"': [None, True, True],
        '"1900-01-01" < at < "1970-01-01"': [None, False, True],
        'utc == "2024-01-01T13:00+01:00"': [False, True, None],
        'utc < "2024-01-01"': [True, False, None],
        "at == at": [None, True, True],
        "utc != utc": [False, False, None],
    }.items():
        assert table.arrays([text], how=tuple)[0].to_list() == wanted, text
        kept = table.arrays(["i"], cut=text).i.to_list()
        assert kept == [i for i, holds in zip([None, 1, 20], wanted, strict=True) if holds], text
    # Statistics of blocks are those of the counts.
    assert table.select(["i"], cut='day < "1970-01-01"').num_entries == 1
    for wrong, match in (
        ('day > "31.1.2024"', "no date or time in ISO form"),
        ("day > 5", "compared with a text in ISO form"),
        ("at > day", r"a timestamp\[us\] is compared with a date"),
        ('at > "2024-01-01T00:00Z"', "has no zone"),
        ("at > s", "compared with a text in ISO form"),
        ('at + "2024-01-01" > 5', "it can only be compared"),
        ("abs(day) > 5", "a date can only be compared"),
        ("where(i > 5, at, at) == at", "can only be compared"),
        ('raw == "a"', "bytes cannot be computed with"),
    ):
        with pytest.raises(forthwith.ForthwithError, match=match):
            table.arrays(["i"], cut=wrong)


def test_random_conditions_are_those_of_polars_and_sql():
    problems, mixed = campaign(3, 150)
    assert not problems, "\n".join(problems[:5])
    assert mixed > 15
