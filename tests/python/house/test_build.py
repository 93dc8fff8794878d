"""How the package is built: one optimised profile for all users, and wheels that old systems can load."""

import _ctypes
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest
from conftest import SOURCES

import forthwith._forthwith


@pytest.fixture(scope="module")
def profiles():
    return tomllib.loads((SOURCES / "Cargo.toml").read_text())["profile"]


def test_everything_that_users_get_is_optimised(profiles):
    release = profiles["release"]
    assert release["opt-level"] == 3
    assert release["lto"] == "thin"
    assert not release.get("debug-assertions", False)
    for name, package in release.get("package", {}).items():
        assert "opt-level" not in package, f"{name} has an optimisation level of its own in the profile that users get"


def test_there_is_one_profile_for_users(profiles):
    assert set(profiles) == {"release", "dev"}
    assert tomllib.loads((SOURCES / "pyproject.toml").read_text())["tool"]["maturin"]["profile"] == "release"
    for script in ("Makefile", "scripts/wheel"):
        text = (SOURCES / script).read_text()
        assert "maturin" in text
        assert "build --release" in text
        assert "--profile" not in text


@pytest.mark.skipif(not shutil.which("readelf"), reason="readelf, of binutils, is not here")
class TestSymbols:
    """`scripts/wheel-symbols` against the extension that is installed."""

    def check(self, *wheels):
        command = [sys.executable, SOURCES / "scripts/wheel-symbols", *wheels]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def wheel(self, folder, tag, extension=forthwith._forthwith.__file__):
        wheel = folder / f"forthwith-0.1.0-cp311-abi3-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.write(extension, "forthwith/_forthwith.abi3.so")
        return wheel

    def test_newer_symbols_than_promised_are_found(self, tmp_path):
        done = self.check(self.wheel(tmp_path, "manylinux_2_5_x86_64"))
        assert done.returncode == 1
        assert "_forthwith.abi3.so needs GLIBC_2." in done.stderr

    def test_symbols_that_every_promised_system_has_pass(self, tmp_path):
        assert self.check(self.wheel(tmp_path, "manylinux_2_99_x86_64")).returncode == 0

    def test_an_unwinder_of_its_own_is_found(self, tmp_path):
        other = getattr(_ctypes, "__file__", None)
        if not other:
            pytest.skip("this Python has no extension in a file")
        done = self.check(self.wheel(tmp_path, "manylinux_2_99_x86_64", other))
        assert done.returncode == 1
        assert "_forthwith.abi3.so is not linked with libgcc_s.so.1" in done.stderr

    def test_a_wheel_without_promise_is_refused(self, tmp_path):
        assert "not a manylinux wheel" in self.check(self.wheel(tmp_path, "linux_x86_64")).stderr

    def test_built_wheels_keep_their_promise(self):
        wheels = sorted((SOURCES / "target/wheels").glob("*manylinux*.whl"))
        if not wheels:
            pytest.skip("no wheels in target/wheels; scripts/wheel builds them")
        done = self.check(*wheels)
        assert done.returncode == 0, done.stderr
