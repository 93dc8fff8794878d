"""The plug-in for VisiData, which runs without a screen."""

import csv
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import forthwith

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("visidata") is None, reason="VisiData is not installed"),
]

RUN = """
import sys, runpy, warnings
warnings.simplefilter("ignore")
import visidata, forthwith.visidata
from visidata import vd, Path
sheet = vd.openSource(Path(sys.argv[1]))
sheet.reload(); vd.sync()
for name in sys.argv[2:]:
    sheet = sheet.openRow(next(row for row in sheet.rows if row[0].partition(";")[0] == name))
    sheet.reload(); vd.sync()
import json
print(json.dumps({"type": type(sheet).__name__, "columns": [[c.name, c.type.__name__] for c in sheet.columns],
    "rows": [[c.getValue(row) for c in sheet.columns] for row in sheet.rows[:5]], "count": len(sheet.rows)}, default=str))
"""


def shown(path, *names):
    line = [sys.executable, "-c", RUN, str(path), *names]
    said = subprocess.run(line, check=True, capture_output=True, text=True, timeout=120)
    return json.loads(said.stdout.splitlines()[-1])


def test_a_file_of_one_table_in_batches(tmp_path):
    with forthwith.recreate(tmp_path / "one.root") as file:
        file["tree"] = {"x": np.arange(100), "y": np.arange(100) / 4, "list": [[1, 2]] * 100}
    rc = tmp_path / "rc"
    rc.write_text("import forthwith.visidata\n")
    vd = shutil.which("vd", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("vd")
    if vd is None:
        pytest.skip("there is no vd")
    out = tmp_path / "out.csv"
    line = [vd, "--batch", "--config", str(rc), str(tmp_path / "one.root"), "--output", str(out)]
    said = subprocess.run(line, check=False, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert said.returncode == 0, said.stderr
    with out.open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert [int(row["x"]) for row in rows] == list(range(100))
    assert [float(row["y"]) for row in rows] == [number / 4 for number in range(100)]


def test_objects_are_opened(path, tmp_path):
    top = shown(path)
    assert top["type"] == "DirectorySheet"
    assert ["events;1", "TTree"] in [row[:2] for row in top["rows"]]
    table = shown(path, "events")
    assert (table["type"], table["count"]) == ("TableSheet", 3600)
    assert ["MET_pt", "float"] in table["columns"]
    assert shown(path, "skim", "events")["type"] == "TableSheet"
    with forthwith.recreate(tmp_path / "objects.root") as file:
        file["h"] = np.histogram([1.0, 2.0, 2.0], bins=2)
        file["dir/text"] = "words"
    bins = shown(tmp_path / "objects.root", "h")
    assert [name for name, _ in bins["columns"]] == ["low", "high", "value"]
    assert bins["rows"] == [[1.0, 1.5, 1.0], [1.5, 2.0, 2.0]]
    assert ["fString", "words"] in shown(tmp_path / "objects.root", "dir", "text")["rows"]
