"""Types that ``forthwith gen`` prints: in Python they are executed, in C++ compiled by ROOT."""

import os
import subprocess
import sys
import typing

import pytest
from conftest import DATA
from root_judge import by_root, need_root

import forthwith

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the bundled files are not here")


def printed(language, target):
    """The standard output of ``forthwith gen``."""
    command = [sys.executable, "-m", "forthwith", "gen", language, str(DATA / target)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ)).stdout


def fits(value, expected):
    """Whether a value is of a type of the printed text."""
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)
    if expected is typing.Any:
        return True
    if typing.is_typeddict(expected):
        hints = typing.get_type_hints(expected)
        return set(value) == set(hints) and all(fits(value[name], hint) for name, hint in hints.items())
    if origin is list:
        return isinstance(value, list) and all(fits(item, *arguments) for item in value)
    if origin is dict:
        key, item = arguments
        return isinstance(value, dict) and all(fits(k, key) and fits(v, item) for k, v in value.items())
    if origin is tuple:
        return all(fits(item, each) for item, each in zip(value, arguments, strict=True))
    if arguments:
        return any(fits(value, each) for each in arguments)
    return isinstance(value, expected)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("zmumu.root:events", "Event"),
        ("avro/nested.avro", "Event"),
    ],
)
def test_records_are_of_the_type_that_is_printed(target, name):
    text = printed("python", target)
    names = {}
    exec(text, names)
    file, _, path = target.partition(":")
    opened = forthwith.open(str(DATA / file))
    table = opened[path] if path else opened
    records = list(table.rows(entry_stop=20))
    assert records
    assert all(fits(record, names[name]) for record in records), text


def test_the_header_reads_the_tree(tmp_path):
    need_root()
    header = tmp_path / "event.h"
    header.write_text(printed("cpp", "zmumu.root:events"))
    script = """
import ROOT
ROOT.gInterpreter.Declare(open(sys.argv[1]).read().replace("#pragma once", ""))
ROOT.gInterpreter.Declare('''
double total(const char* name) {
    TFile file(name);
    TTreeReader reader("events", &file);
    Event event(reader);
    double sum = 0;
    while (reader.Next()) { sum += *event.MET_pt; for (float pt : event.Muon_pt) sum += pt; }
    return sum;
}
''')
print(json.dumps(ROOT.total(sys.argv[2])))
"""
    found = by_root(script, str(header), str(DATA / "zmumu.root"))
    tree = forthwith.open(str(DATA / "zmumu.root") + ":events")
    arrays = tree.arrays(["MET_pt", "Muon_pt"], library="np")
    expected = float(arrays["MET_pt"].sum(dtype="f8")) + sum(float(pt.sum(dtype="f8")) for pt in arrays["Muon_pt"])
    assert found == pytest.approx(expected, rel=1e-9)
