"""The findings of a check of a Parquet file in footers that contradict the values."""

import json
import math
import struct
import subprocess
import sys

import pytest
from parquet_patches import I64, Field, File

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 100
COLUMNS = {
    "small": (pa.int8(), [n - 50 for n in range(ROWS)], "<i"),
    "signed": (pa.int64(), [n * 10**12 - 5 for n in range(ROWS)], "<q"),
    "unsigned": (pa.uint32(), [(1 << 32) - 1 - n for n in range(ROWS)], "<I"),
    "single": (pa.float32(), [n / 8 for n in range(ROWS)], "<f"),
    "double": (pa.float64(), [-n / 8 for n in range(ROWS)], "<d"),
    "holes": (pa.int32(), [None if n % 7 == 3 else n for n in range(ROWS)], "<i"),
}
NULLS, GREATEST, LEAST = 3, 5, 6


def made(tmp_path, *names):
    table = pa.table({name: pa.array(COLUMNS[name][1], COLUMNS[name][0]) for name in names})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=ROWS // 2, compression="none", use_dictionary=False)
    return File(sink.getvalue().to_pybytes())


def findings(tmp_path, file):
    path = tmp_path / "patched.parquet"
    path.write_bytes(file.put_together())
    return found_in(path)


def found_in(path):
    done = subprocess.run(
        [sys.executable, "-m", "forthwith", "check", "--json", str(path)], check=False, capture_output=True, text=True
    )
    report = json.loads(done.stdout)
    report = report[0] if isinstance(report, list) else report
    damage = [finding for finding in report["findings"] if finding["severity"] == "damage"]
    assert done.returncode == (1 if damage else 0), done.stderr
    return damage


def metadata(file, row_group, column=0):
    return file.row_groups[row_group][1].value[column][3].value


def statistics(file, row_group):
    return metadata(file, row_group)[12].value


@pytest.mark.parametrize("name", COLUMNS)
def test_true_statistics_are_no_finding(tmp_path, name):
    assert findings(tmp_path, made(tmp_path, name)) == []


@pytest.mark.parametrize("row_group", [0, 1])
@pytest.mark.parametrize("name", COLUMNS)
def test_wrong_bounds(tmp_path, name, row_group):
    _, values, layout = COLUMNS[name]
    here = [value for value in values[row_group * 50 : row_group * 50 + 50] if value is not None]
    step = 0.125 if isinstance(here[0], float) else 1
    for number, bound in ((GREATEST, max(here) - step), (LEAST, min(here) + step)):
        file = made(tmp_path, name)
        statistics(file, row_group)[number].value = struct.pack(layout, bound)
        (finding,) = findings(tmp_path, file)
        assert (finding["part"], finding["object"]) == ("statistics", name)
        assert finding["what"].startswith("values are said to be from ")
        assert finding["what"].endswith(f"in row group {row_group}")
    # Bounds need not be values, nor numbers.
    file = made(tmp_path, name)
    statistics(file, row_group)[GREATEST].value = struct.pack(
        layout, max(here) if name == "unsigned" else max(here) + step
    )
    if layout in ("<f", "<d"):
        statistics(file, row_group)[LEAST].value = struct.pack(layout, math.nan)
    assert findings(tmp_path, file) == []


@pytest.mark.parametrize("name", ["holes", "signed"])
def test_wrong_numbers_of_nulls(tmp_path, name):
    file = made(tmp_path, name)
    there = COLUMNS[name][1][50:].count(None)
    statistics(file, 1)[NULLS] = Field(I64, there + 1)
    (finding,) = findings(tmp_path, file)
    assert (finding["part"], finding["object"]) == ("statistics", name)
    assert finding["what"] == f"{there + 1} nulls are said to be there, and {there} are, in row group 1"


def test_chunks_that_overlap(tmp_path):
    file = made(tmp_path, "signed", "double")
    path = tmp_path / "overlap.parquet"
    file.put_together()
    # The second column is said to begin within the first.
    metadata(file, 0, 1)[9].value = metadata(file, 0, 0)[9].value + 8
    path.write_bytes(file.put_together(offsets=False))
    damage = found_in(path)
    overlap = [finding for finding in damage if "overlaps that of" in finding["what"]]
    assert [finding["object"] for finding in overlap] == ["double"]
    assert overlap[0]["what"] == 'the column chunk of row group 0 overlaps that of "signed" in row group 0'
    # The same bytes twice, in two row groups.
    file = made(tmp_path, "signed")
    file.put_together()
    metadata(file, 1)[9].value = metadata(file, 0)[9].value
    path.write_bytes(file.put_together(offsets=False))
    assert any("row group 1 overlaps" in finding["what"] for finding in found_in(path))


def test_counts_that_contradict_each_other(tmp_path):
    file = made(tmp_path, "signed")
    file.footer[3].value += 1
    assert any(finding["part"] == "footer" for finding in findings(tmp_path, file))
    file = made(tmp_path, "signed")
    metadata(file, 0)[5].value -= 1
    said = [finding["what"] for finding in findings(tmp_path, file)]
    assert any("49 values of 50 rows" in what for what in said)
    assert any("its pages have 50" in what for what in said)
