"""The counts of instructions that `benches/instructions/run` compares: how a profile is added up, and what is committed."""

import importlib.machinery
import importlib.util
import json

import pytest
from conftest import SOURCES

RUN = SOURCES / "benches/instructions/run"
pytestmark = pytest.mark.skipif(not RUN.is_file(), reason="the sources are not here")

# Two functions of the extension, of which one calls one of the C library and one of the interpreter.
PROFILE = """version: 1
events: Ir

ob=(1) /venv/lib/python3.11/site-packages/forthwith/_forthwith.abi3.so
fl=(1) ???
fn=(1) 0x10
0 100
+3 20
cob=(2) /usr/lib/x86_64-linux-gnu/libc.so.6
cfn=(2) memcpy
calls=3 0
0 4000
cob=(3) /usr/bin/python3.11
cfn=(3) PyObject_Call
calls=1 0
* 9000

fn=(4) 0x20
0 5

ob=(2)
fn=(2)
0 4000

ob=(3)
fn=(3)
0 9000

ob=(4) ???
fn=(5) 0x4000
- 7

totals: 13132
"""


@pytest.fixture(scope="module")
def run():
    loader = importlib.machinery.SourceFileLoader("run_instructions", str(RUN))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_costs_of_calls_and_of_the_interpreter_do_not_count(run):
    assert run.instructions(PROFILE) == 100 + 20 + 5 + 4000 + 7


def test_growth_beyond_the_limit_is_told(run, capsys):
    found = {"json": 1_029, "floats": 1_031, "strings": 969, "ntuple": 1}
    assert run.show(found, {"json": 1_000, "floats": 1_000, "strings": 1_000}) == (["floats", "ntuple"], ["strings"])
    marks = [line.partition("%")[2].strip() for line in capsys.readouterr().out.splitlines()]
    assert marks == ["", "", "too many", "", "new"]


def test_each_case_has_a_count_and_the_counts_a_reason(run):
    committed = json.loads(run.COUNTS.read_text())
    assert list(committed["instructions"]) == list(run.CASES)
    assert all(count > 0 for count in committed["instructions"].values())
    assert committed["reason"].strip()
    assert committed["kernels"] == run.KERNELS


def test_each_case_is_described(run):
    page = RUN.with_name("README.md").read_text()
    assert [case for case in run.CASES if f"`{case}`" not in page] == []
