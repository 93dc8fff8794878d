"""The package itself: what importing it costs, its errors, its command."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import SOURCES

import forthwith


def python(*args, **kwargs):
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, env=environment, check=False, **kwargs
    )


def test_importing_it_imports_no_other_package():
    done = python("-X", "importtime", "-c", "import forthwith")
    assert done.returncode == 0, done.stderr
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "forthwith" in imported
    assert not imported & {"numpy", "awkward", "pandas", "pyarrow", "polars", "typing", "json", "inspect", "asyncio"}


def test_listing_and_showing_need_no_other_package(path):
    code = f"""
import sys, io, forthwith
with forthwith.open({path!r}) as file:
    file.keys(); file["events"].show(stream=io.StringIO()); file["events"].explain()
    file["events"].__arrow_c_stream__()
print(sorted(set(sys.modules) & {{"numpy", "awkward", "pandas", "pyarrow"}}))
"""
    done = python("-c", code)
    assert done.stdout == "[]\n", done.stderr


def test_every_error_is_also_a_builtin_one():
    for name, builtin in {
        "KeyInFileError": KeyError,
        "UnsupportedError": NotImplementedError,
        "DamagedFileError": ValueError,
        "RequestError": ValueError,
        "SourceError": OSError,
        "MissingFileError": FileNotFoundError,
        "DeniedFileError": PermissionError,
        "ClosedFileError": (OSError, ValueError),
        "OutOfMemoryError": MemoryError,
        "InternalError": RuntimeError,
        "MissingPackageError": ImportError,
    }.items():
        error = getattr(forthwith, name)
        assert issubclass(error, forthwith.ForthwithError)
        for one in builtin if isinstance(builtin, tuple) else (builtin,):
            assert issubclass(error, one)
        shown = error("one\n  in two", file="two", entry=3)
        assert str(shown) == "one\n  in two"
        assert (shown.file, shown.entry, shown.byte) == ("two", 3, None)


def test_damage_is_placed(path, tmp_path):
    whole = bytearray(pathlib.Path(path).read_bytes())
    with forthwith.open(path) as file:
        block = file["events"]._core.plan([file["events"]._core.find("Muon_pt")], 0, 3600).blocks()[0]
    assert block.stored_bytes > 200
    at = whole.find(b"Muon_pt", whole.find(b"TBasket"))
    assert at > 0
    whole[at + 60 : at + 160] = bytes(100)
    (tmp_path / "damaged.root").write_bytes(whole)
    with forthwith.open(tmp_path / "damaged.root") as file, pytest.raises(forthwith.DamagedFileError) as caught:
        file["events/Muon_pt"].array()
    error = caught.value
    assert error.file.endswith("damaged.root")
    assert error.object == "events/Muon_pt"
    assert error.block is not None
    assert "damaged.root:events/Muon_pt, basket" in str(error)


def test_what_is_exported_exists():
    for name in forthwith.__all__:
        assert hasattr(forthwith, name)
    assert forthwith.__version__.count(".") == 2


def test_modules_come_when_they_are_asked_for():
    script = """
import sys, forthwith
names = "avro", "forth", "parquet"
assert not any(f"forthwith.{name}" in sys.modules for name in names)
assert all(name in dir(forthwith) for name in names)
print(*(getattr(forthwith, name).__name__ for name in names))
"""
    done = python("-W", "ignore", "-c", script)
    assert done.stdout.split() == ["forthwith.avro", "forthwith.forth", "forthwith.parquet"], done.stderr


def test_the_command(path):
    done = python("-m", "forthwith", "ls", path)
    assert done.returncode == 0, done.stderr
    assert "events" in done.stdout
    done = python("-m", "forthwith", "ls", "no-such-file.root")
    assert done.returncode != 0
    assert "no-such-file.root" in done.stderr


def test_the_build_for_development_warns():
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", "import forthwith"], capture_output=True, text=True, check=True
    )
    assert ("without optimisation" in done.stderr) != forthwith._forthwith.optimised


def test_unsafe_code_is_where_the_architecture_says():
    if not (SOURCES / "ARCHITECTURE.md").is_file():
        pytest.skip("the sources are not here")
    table = (SOURCES / "ARCHITECTURE.md").read_text().partition("### Unsafe code")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `([^`]+)`", table, re.MULTILINE))
    allowed = set()
    for path in [*SOURCES.glob("crates/*/src/**/*.rs"), *SOURCES.glob("python/src/**/*.rs")]:
        if re.search(r"^\s*#!?\[allow\(unsafe_code", path.read_text(), re.MULTILINE):
            place = path.relative_to(SOURCES)
            allowed.add(str(place.parents[1] if place.name == "lib.rs" else place))
    assert allowed == listed
