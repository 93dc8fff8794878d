"""Expressions mean the same wherever they are typed: in Python, in Arrow streams, and in the command."""

import json
import math
import subprocess
import sys

import pyarrow as pa
import pytest
from conftest import data

import forthwith

EXPRESSIONS = [
    "MET_pt * 2 - 1",
    "-MET_pt ** 2 / 3",
    "nMuon // 2 + nMuon % 2",
    "1 < nMuon <= 3",
    "nMuon == 2 and not MET_pt > 30",
    "nMuon > 1 && MET_pt < 50 || !(nMuon == 0)",
    "(nMuon & 1) | (nMuon << 3) ^ 5",
    "nMuon > 2 ? MET_pt : -1",
    "where(MET_pt > 20, nMuon, 0)",
    "sum(Muon_pt)",
    "max(Muon_pt) - min(Muon_pt)",
    "Sum$(Muon_pt > 20)",
    "count(Muon_pt[abs(Muon_eta) < 1])",
    "any(Muon_pt > 30) or all(Muon_eta > 0)",
    "first(Muon_pt[Muon_pt > 20])",
    "item(Muon_pt, -1) / MET_pt",
    "sqrt(Muon_pt ** 2 + MET_pt ** 2)",
    "TMath::Abs(Muon_eta) * np.cos(Muon_phi)",
    "Muon_pt[Muon_charge > 0]",
    "hypot(Muon_pt, pi) > 3 * TMath::Pi()",
    "float64(run) + event * 1.5",
    "isnan(MET_pt / 0) + int32(MET_pt)",
    "Muon_pt[:, 0] + Muon_pt[:, -1]",
    "Muon_pt[:, 1:] * 2",
    "mean(Muon_pt) - std(Muon_eta)",
    "nMuon in (1, 3) or nMuon not in [0, 2]",
    "Alt$(Muon_pt[:, 1], -1) + Entry$",
    "MaxIf$(Muon_pt, Muon_charge > 0) + Length$(Muon_pt)",
    "Muon_pt * (Iteration$ == 0)",
    "argmax(Muon_pt) + round(MET_pt, 1)",
]
WRONG = [
    "Muon_ptt + 1",
    "MET_pt > > 2",
    "Muon_pt[0]",
    "MET_pt ^ 2",
    "nMuon > 1 & MET_pt < 2",
    "sum(MET_pt)",
    "'text' + 1",
    "((MET_pt)",
    "nosuch(MET_pt)",
    "MET_pt if nMuon else 0",
]


def command(*words):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "forthwith", "cat", data("zmumu.root") + ":events", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def same(a, b):
    """Equal values, whose floats may have been printed and read."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float | int):
        return math.isclose(a, b, rel_tol=1e-6) or (math.isnan(a) and math.isnan(b))
    return a == b


def test_expressions_mean_the_same_in_python_streams_and_the_command():
    names = {f"e{at}": text for at, text in enumerate(EXPRESSIONS)}
    typed = [word for name, text in names.items() for word in ("--compute", f"{name}={text}")]
    code, printed, said = command("-c", "event", *typed, "--where", EXPRESSIONS[4], "--nan", "null")
    assert (code, said) == (0, "")
    rows = [json.loads(line) for line in printed.splitlines()]
    with forthwith.open(data("zmumu.root")) as file:
        events = file["events"]
        read = events.arrays(["event", *names], aliases=names, cut=EXPRESSIONS[4])
        assert [row["event"] for row in rows] == read["event"].tolist()
        assert 0 < len(rows) < events.num_entries
        stream = pa.table(events.select(list(names), aliases=names, cut=EXPRESSIONS[4], step_size=500))
        for name, text in names.items():
            values = read[name].tolist()
            assert same(values, [row[name] for row in rows]), text
            assert same(values, stream[name].to_pylist()), text


@pytest.mark.parametrize("text", WRONG)
def test_errors_are_the_same_in_python_and_the_command(text):
    with forthwith.open(data("zmumu.root")) as file, pytest.raises(forthwith.RequestError) as caught:
        file["events"].arrays(["x"], aliases={"x": text})
    wrong = caught.value.message
    lines = wrong.split("\n")
    # The text, and under it the place.
    place = next(at for at, line in enumerate(lines) if set(line.strip()) == {"^"})
    assert lines[place - 1].strip() == text
    code, _, said = command("-c", "event", "--compute", f"x={text}")
    assert code != 0
    for line in lines[: place + 1]:
        assert line.strip() in said, said
