"""The types that a checker infers in a usual script."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).with_name("typed_script.py")
KNOWN = {
    "file": "Opened",
    "item": "Opened",
    "chain": "Chain",
    "keys": "list[str]",
    "entries": "int",
    "np": "dict[str, numpy.ndarray[",
    "numpy": "dict[str, numpy.ndarray[",
    "pl": "polars.dataframe.frame.DataFrame",
    "polars": "polars.dataframe.frame.DataFrame",
    "dict": "dict[str, Any]",
    "list": "list[Any]",
    "array_np": "numpy.ndarray[",
    "array_pl": "polars.series.series.Series",
    "iterate_np": "Iterator[dict[str, numpy.ndarray[",
    "iterate_report": "Iterator[tuple[dict[str, numpy.ndarray[",
    "chain_np": "dict[str, numpy.ndarray[",
    "concatenate_pl": "polars.dataframe.frame.DataFrame",
    "files_report": "Report]",
    "name": "str",
    "branch": "Opened",
    "selection": "Selection",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    pytest.importorskip("mypy")
    configuration = tmp_path_factory.mktemp("mypy") / "mypy.ini"
    untyped = "\n".join(f"[mypy-{name}.*]\nignore_missing_imports = True" for name in ("awkward", "pandas", "pyarrow"))
    configuration.write_text(f"[mypy]\nstrict = True\nplugins =\n{untyped}\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(configuration), str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=configuration.parent)
    lines = SCRIPT.read_text().splitlines()
    found = {}
    for line in done.stdout.splitlines():
        match = re.search(r"typed_script\.py:(\d+): (\w+): (.*)", line)
        if match:
            label = lines[int(match[1]) - 1].rpartition("# ")[2]
            found.setdefault(label, []).append(f"{match[2]}: {match[3]}")
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.slow
@pytest.mark.parametrize("label", KNOWN)
def test_types_are_known(said, label):
    (text,) = said[label]
    assert text.startswith("note: Revealed type is")
    assert KNOWN[label].replace("polars.dataframe.frame.", "") in text.replace("polars.dataframe.frame.", "")
    assert '"Any"' not in text


def test_what_opens_and_what_is_wrong(said):
    assert "def (path:" in "".join(said["open"])
    for label in ("wrong_library", "wrong_keyword", "wrong_type"):
        assert any(text.startswith("error: ") for text in said[label]), label
    errors = {label for label, texts in said.items() if any(text.startswith("error") for text in texts)}
    assert errors == {"wrong_library", "wrong_keyword", "wrong_type"}, {label: said[label] for label in errors}
