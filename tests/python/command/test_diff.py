"""Comparisons of files and tables, and summaries of columns, against NumPy and walks over Python's values."""

from __future__ import annotations

import json
import math
import os
import random
import time
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import random_diffs
from conftest import DATA
from root_judge import by_root

import forthwith
from forthwith import _forthwith

# More of them by hand.
BRIEF = int(os.environ.get("FORTHWITH_BRIEF_DIFFS", "30"))


def test_planted_differences_are_found(tmp_path: Path) -> None:
    left, right = str(tmp_path / "left.parquet"), str(tmp_path / "right.parquet")
    for seed in range(25):
        rng = random.Random(seed)
        kinds, columns, changed, rows = random_diffs.table(rng)
        random_diffs.write(left, kinds, columns, rows)
        random_diffs.write(right, kinds, changed, rows)
        expected = random_diffs.expected(columns, changed)
        found = forthwith.diff(left, right)
        assert found["complete"]
        assert found["same"] == (not any(expected.values()))
        for column in found["columns"]:
            wanted = expected[column["path"]]
            assert column["differing"] == len(wanted), (seed, column)
            assert [one["entries"][0] for one in column["first"]] == sorted(
                one["entries"][0] for one in column["first"]
            )
            assert {one["entries"][0] for one in column["first"]} <= set(wanted)


def test_tolerances_are_those_of_numpy(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    left = rng.normal(size=1000)
    right = left * (1 + rng.normal(scale=1e-6, size=1000)) + rng.normal(scale=1e-7, size=1000)
    left[::50] = right[::70] = np.nan
    paths = [tmp_path / "left.parquet", tmp_path / "right.parquet"]
    for path, values in zip(paths, (left, right), strict=False):
        forthwith.write_parquet(path, {"x": values})
    for rtol, atol, nan_equal in ((0, 0, True), (1e-6, 0, True), (0, 1e-6, False), (1e-6, 1e-7, True)):
        close = np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=nan_equal)
        found = forthwith.diff(*paths, rtol=rtol, atol=atol, nan_equal=nan_equal)
        assert found["columns"][0]["differing"] == np.count_nonzero(~close)


def test_entries_are_matched_by_keys(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    run, event = rng.integers(1, 4, 5000), rng.permutation(5000)
    x = rng.normal(size=5000)
    order = rng.permutation(5000)[:4900]
    changed = x[order].copy()
    changed[:10] += 1
    left, right = tmp_path / "left.parquet", tmp_path / "right.root"
    forthwith.write_parquet(left, {"run": run, "event": event, "x": x})
    with forthwith.recreate(right) as file:
        file["t"] = {"run": run[order].astype(np.int32), "event": event[order], "x": changed}
    found = forthwith.diff(left, right, on=["run", "event"], same_content=True)
    assert (found["compared"], [one["count"] for one in found["unmatched"]]) == (4900, [100, 0])
    column = next(one for one in found["columns"] if one["path"] == "x")
    assert column["differing"] == 10
    assert column["largest"] == pytest.approx(1)
    own, other = column["first"][0]["entries"]
    assert order[other] == own


def test_files_and_columns_are_chosen() -> None:
    events = f"{DATA}/zmumu.root:events"
    found = forthwith.diff(events, events, filter_name="Muon_*")
    assert found["same"]
    assert len(found["columns"]) == 5
    with pytest.raises(forthwith.RequestError, match="no column"):
        forthwith.diff(events, events, filter_name="nothing")
    with forthwith.open(f"{DATA}/histograms.root") as file:
        found = forthwith.diff(file, file)
        assert found["same"]
        assert len(found["objects"]) == 64


def test_trees_and_ntuples_of_root_hold_the_same(tmp_path: Path) -> None:
    """The same data, written as a tree and as an RNTuple by C++ ROOT."""
    script = """
import ROOT, sys
ROOT.gInterpreter.Declare('''
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TTree.h>
#include <TRandom3.h>
void write(const char* tree, const char* ntuple, bool differs) {
  TRandom3 random(5);
  auto model = ROOT::RNTupleModel::Create();
  auto n = model->MakeField<int>("n");
  auto x = model->MakeField<double>("x");
  auto v = model->MakeField<std::vector<float>>("v");
  auto s = model->MakeField<std::string>("s");
  auto b = model->MakeField<bool>("b");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", ntuple);
  TFile file(tree, "recreate");
  TTree t("t", "t");
  auto pv = v.get(); auto ps = s.get();
  t.Branch("n", n.get()); t.Branch("x", x.get()); t.Branch("v", &pv); t.Branch("s", &ps);
  t.Branch("b", b.get());
  for (int i = 0; i < 500; ++i) {
    *n = i; *x = random.Gaus(); *b = random.Rndm() < 0.5; *s = std::string(i % 7, 'a' + i % 26);
    v->resize(random.Integer(5)); for (auto& f : *v) f = random.Rndm();
    t.Fill();
    if (differs && i == 77) v->push_back(1);
    writer->Fill();
  }
  file.Write();
}''')
for differs in (0, 1):
    ROOT.write(*(f"{sys.argv[1]}/{kind}{differs}.root" for kind in ("tree", "ntuple")), bool(differs))
print("null")
"""
    by_root(script, str(tmp_path))
    for differs in (0, 1):
        tree, ntuple = tmp_path / f"tree{differs}.root", tmp_path / f"ntuple{differs}.root"
        found = forthwith.diff(tree, ntuple, same_content=True)
        tables = found.get("tables", {"t": found})
        columns = {column["path"]: column["differing"] for column in tables["t"]["columns"]}
        assert columns == {"n": 0, "x": 0, "v": differs, "s": 0, "b": 0}
        assert not any(tables["t"]["only"])


@pytest.mark.parametrize("ending", ["parquet", "arrow", "avro"])
def test_a_brief_diff_answers_as_one_of_all_values(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever is cached of the files: summaries of both, of one, or of an older state."""

    def command(*args: str) -> int:
        return _forthwith.command(["forthwith", *args], None)

    def settle() -> None:
        # Summaries are kept of files only that were not changed just now.
        time.sleep(0.05)

    by_summaries = 0
    for seed in range(BRIEF):
        rng = random.Random(f"{ending} {seed}")
        left, right = str(tmp_path / f"left{seed}.parquet"), str(tmp_path / f"right{seed}.parquet")
        kinds, columns, changed, rows = random_diffs.table(rng)
        if rng.random() < 0.2:
            changed = {name: list(reversed(values)) for name, values in columns.items()}
        random_diffs.write(left, kinds, columns, rows)
        random_diffs.write(right, kinds, changed, rows)
        if ending != "parquet":
            other = right.replace(".parquet", f".{ending}")
            if command("convert", right, other) != 0:
                continue
            right = other
        settle()
        for path in rng.choice(((left, right), (left, right), (right,))):
            command("stats", "--cache", path)
        if rng.random() < 0.2:
            # Another file in the place of the one that the summaries are of.
            other = str(tmp_path / "other.parquet")
            random_diffs.write(other, kinds, changed, rows)
            os.replace(other, left)
            settle()
        flags = rng.choice(([], ["--atol", "0.5"], ["--rtol", "0.1"], ["--bitwise"], ["--nan-differs"]))
        if ending != "parquet" or rng.random() < 0.3:
            flags = [*flags, "--same-content"]
        expected = command("diff", "-q", left, right, *flags)
        assert command("diff", "-q", "--brief", left, right, *flags) == expected, (seed, flags)
        capfd.readouterr()
        assert command("diff", "--brief", "--json", left, right, *flags) == expected
        found = json.loads(capfd.readouterr().out)["table"]
        by_summaries += any(column["summary"] for column in found["columns"])
    # Entries of Avro are counted by reading its blocks, and summaries are of all entries.
    assert by_summaries > BRIEF // 10 or ending == "avro"


def _brief(capfd: pytest.CaptureFixture[str], *args: Any) -> tuple[int, dict[str, Any]]:
    """The exit code of a brief comparison, and what it says."""
    capfd.readouterr()
    code = _forthwith.command(["forthwith", "diff", "--brief", "--json", *map(str, args)], None)
    text = capfd.readouterr().out
    return code, json.loads(text) if text else {}


def _trees(path: Path, **tables: dict[str, Any]) -> Path:
    with forthwith.recreate(path) as file:
        for name, columns in tables.items():
            file.mktree(name, columns)
    return path


def test_a_brief_diff_of_chosen_columns_answers_as_one_of_all_values(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Also where it ends before any column is looked at: at a table of one side, or at numbers of entries."""
    a, t = {"y": [1, 2, 3]}, {"x": [1.0, 2.0, 3.0]}
    left = _trees(tmp_path / "left.root", a=a, t=t)
    others = [
        _trees(tmp_path / f"right{at}.root", **tables)
        for at, tables in enumerate(
            [
                {"a": a, "t": t},
                {"a": a, "t": t, "zz": {"q": [1]}},
                {"a": {"y": [1, 2]}, "t": t},
                {"a": a, "t": {"x": [1.0, 2.0, 4.0]}},
                {"a": a, "t": {"z": [1.0]}},
                {"a": a},
            ]
        )
    ]
    codes = set()
    for right in others:
        for column in ("x", "y", "z", "q", "[xy]", "nothing"):
            for flags in ([], ["--common"], ["--same-content"], ["--common", "--same-content"]):
                args = [str(left), str(right), "-c", column, *flags]
                expected = _forthwith.command(["forthwith", "diff", "-q", *args], None)
                assert _brief(capfd, *args)[0] == expected, args
                codes.add((column, expected))
    assert codes >= {("x", 0), ("x", 1), ("y", 0), ("y", 1)}
    assert {code for column, code in codes if column == "nothing"} == {2}


def test_a_brief_diff_says_whether_it_stopped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    few, many = {"x": [1, 2]}, {f"x{at}": [1, 2] for at in range(40)}
    left = _trees(tmp_path / "left.root", a=few, b=many)

    def stopped(**tables: dict[str, Any]) -> tuple[bool, list[bool]]:
        code, found = _brief(capfd, left, _trees(tmp_path / "right.root", **tables))
        assert code == 1
        file = found["file"]
        return file["stopped"], [table["stopped"] for _, table in file["tables"]]

    # In the first table, of which all was read; in the last one, with columns that were read or not.
    assert stopped(a={"x": [1, 3]}, b=many) == (True, [False])
    assert stopped(a=few, b=many | {"x0": [1, 3]}) == (True, [False, True])
    assert stopped(a=few, b=many | {"x39": [1, 3]}) == (False, [False, False])
    assert stopped(a=few, b=many, c=few) == (True, [])
    assert stopped(a={"x": [1]}, b=many) == (True, [True])
    assert stopped(c=few) == (False, [])


def test_wrong_keys_are_an_error_whatever_else_differs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    left = _trees(tmp_path / "left.root", a={"x": [1, 2]}, b={"x": [1]})
    for at, tables in enumerate(
        [
            {"a": {"x": [1, 2]}, "b": {"x": [1]}},
            {"a": {"x": [1, 2, 3]}, "b": {"x": [1]}},
            {"a": {"x": [1.5, 2]}, "b": {"x": [1]}},
            {"a": {"x": [1, 2]}, "b": {"x": [1]}, "c": {"x": [1]}},
        ]
    ):
        right = _trees(tmp_path / f"right{at}.root", **tables)
        assert _brief(capfd, left, right, "--on", "nothing")[0] == 2, at
        assert _brief(capfd, f"{left}:a", f"{right}:a", "--on", "nothing")[0] == 2, at
        assert _brief(capfd, left, right, "--on", "x")[0] == (1 if at else 0), at


def _flat(values: list[Any]) -> list[Any]:
    return [
        item for value in values if value is not None for item in (_flat(value) if isinstance(value, list) else [value])
    ]


def test_summaries_are_those_of_numpy(tmp_path: Path) -> None:
    path = str(tmp_path / "table.parquet")
    for seed in range(25):
        rng = random.Random(seed)
        kinds, columns, _, rows = random_diffs.table(rng)
        flat = {name: kind for name, kind in kinds.items() if _is_numbers(kind)}
        if not flat:
            continue
        random_diffs.write(path, kinds, columns, rows)
        with forthwith.open(path) as table:
            found = table.stats(list(flat), quantiles=[0, 0.3, 1], top=2)
        assert found["entries"] == rows
        for name in flat:
            summary = [one for one in found["columns"] if one["path"] == name and one["of"] != "lengths"][-1]
            every = _flat(columns[name])
            numbers = np.array([float(value) for value in every if not math.isnan(value)])
            assert summary["count"] == len(numbers)
            assert (summary["nan"] or 0) == len(every) - len(numbers)
            assert summary["distinct"] == {"count": len(set(numbers.tolist())), "is_exact": True}
            if not len(numbers):
                continue
            assert summary["frequent"][0]["count"] == max(np.unique(numbers, return_counts=True)[1])
            if np.isfinite(numbers).all():
                assert summary["mean"] == pytest.approx(np.mean(numbers), rel=1e-9, abs=1e-9)
                assert summary["deviation"] == pytest.approx(np.std(numbers), rel=1e-6, abs=1e-9)
                quantiles = [one["value"] for one in summary["quantiles"]]
                assert quantiles == pytest.approx(np.quantile(numbers, [0, 0.3, 1]).tolist())
                assert float(summary["min"]) == pytest.approx(min(numbers), rel=1e-6)


def test_decimals_and_times_are_summarised_as_what_they_mean(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = random.Random("decimals")
    path = tmp_path / "meanings.parquet"
    for precision, scale in ((5, 2), (18, 4), (38, 10), (38, 0), (60, 20)):
        limit = 10 ** min(precision, 30)
        numbers = [rng.choice((rng.randrange(-limit, limit), rng.randrange(-300, 300))) for _ in range(501)]
        decimals = [Decimal(number).scaleb(-scale, Context(prec=80)) for number in numbers]
        kind = pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)
        parquet.write_table(pa.table({"d": pa.array([*decimals, None], kind)}), path, store_decimal_as_integer=True)
        with forthwith.open(path) as table:
            (found,) = table.stats(["d"], quantiles=[0.5], top=1)["columns"]
        assert (found["count"], found["missing"], found["nan"]) == (501, 1, None)
        assert [Decimal(found[name]) for name in ("min", "max")] == [min(decimals), max(decimals)]
        floats = np.array([float(number) for number in decimals])
        assert found["mean"] == pytest.approx(floats.mean(), rel=1e-9, abs=1e-12)
        assert found["deviation"] == pytest.approx(floats.std(), rel=1e-9)
        assert found["quantiles"][0]["value"] == pytest.approx(np.median(floats), rel=1e-12)
        assert found["distinct"] == {"count": len(set(decimals)), "is_exact": True}
        assert found["type"] == f"decimal[{precision}, {scale}]"
    for unit in ("ms", "us", "ns"):
        # Larger counts than a floating-point number has.
        counts = np.array([rng.randrange(10**15, 10**15 + 10**6) for _ in range(501)])
        times = pa.array(counts, pa.int64())
        table = {"t": times.cast(pa.timestamp(unit)), "z": times.cast(pa.timestamp(unit, "Europe/Berlin"))}
        parquet.write_table(pa.table(table), path)
        with forthwith.open(path) as file:
            summaries = file.stats(quantiles=[0.5], top=1)["columns"]
        exact = int((2 * sum(map(int, counts)) + 501) // 1002)
        for found, zone in zip(summaries, ("", "Z"), strict=True):
            moments = [np.datetime64(int(count), unit) for count in (min(counts), exact, max(counts))]
            assert [found[name] for name in ("min", "mean", "max")] == [f"{moment}{zone}" for moment in moments]
            assert found["quantiles"][0]["value"] == f"{np.datetime64(int(np.median(counts)), unit)}{zone}"
            ticks = np.timedelta64(1, "s") / np.timedelta64(1, unit)
            assert found["deviation"] == pytest.approx(counts.std() / ticks, rel=1e-6)
    days = np.array([rng.randrange(-40_000, 40_000) for _ in range(200)], "datetime64[D]")
    parquet.write_table(pa.table({"d": days}), path)
    with forthwith.open(path) as file:
        (found,) = file.stats()["columns"]
    assert [found["min"], found["max"]] == [str(min(days)), str(max(days))]
    assert found["deviation"] == pytest.approx(days.astype(int).std())
    assert found["mean"] == str(np.datetime64(round(days.astype(int).mean()), "D"))


def test_wide_decimals_are_counted_by_their_values(tmp_path: Path) -> None:
    fastavro = pytest.importorskip("fastavro")
    path = tmp_path / "wide.avro"
    kind = {"type": "bytes", "logicalType": "decimal", "precision": 400_000, "scale": 2}
    schema = fastavro.parse_schema({"type": "record", "name": "r", "fields": [{"name": "d", "type": kind}]})
    # Wider than what is spelled, beyond floating-point numbers, and one number in two widths.
    numbers = [b"\1" * 70_000 + b"\2", b"\1" * 70_000 + b"\3", b"\1" * 300, b"\0\5", b"\5", b"\xff\xff"]
    with open(path, "wb") as file:
        fastavro.writer(file, schema, [{"d": number} for number in numbers])
    with forthwith.open(path) as table:
        (found,) = table.stats(["d"], quantiles=[0.5], top=1)["columns"]
    assert (found["count"], found["distinct"]) == (6, {"count": 5, "is_exact": True})
    assert found["frequent"] == [{"value": "0.05", "count": 2}]
    assert found["min"] == "-0.01"
    assert (found["mean"], found["deviation"], found["quantiles"]) == (None, None, [])


def _is_numbers(kind: Any) -> bool:
    match kind:
        case ("list" | "array", inner):
            return _is_numbers(inner)
        case ("option", inner):
            return inner in random_diffs.NUMBERS
    return kind in random_diffs.NUMBERS


def test_estimates_of_many_values_are_close(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    values = {"many": rng.normal(size=300_000), "few": rng.poisson(3, 300_000)}
    values["many"][:30_000] = 0.5
    path = tmp_path / "many.parquet"
    forthwith.write_parquet(path, values)
    with forthwith.open(path) as table:
        many, few = table.stats(quantiles=[0.1, 0.5])["columns"]
    assert not many["quantiles_are_exact"]
    assert not many["distinct"]["is_exact"]
    assert not many["frequent_is_exact"]
    assert many["distinct"]["count"] == pytest.approx(270_001, rel=0.03)
    assert many["frequent"][0]["value"] == 0.5
    assert many["frequent"][0]["count"] == pytest.approx(30_000, rel=0.1)
    for quantile in many["quantiles"]:
        assert np.mean(values["many"] < quantile["value"]) == pytest.approx(quantile["fraction"], abs=0.06)
    assert few["distinct"] == {"count": len(np.unique(values["few"])), "is_exact": True}
    assert few["frequent"][0]["count"] == max(np.unique(values["few"], return_counts=True)[1])
    assert many["mean"] == pytest.approx(values["many"].mean())
    assert many["deviation"] == pytest.approx(values["many"].std())
