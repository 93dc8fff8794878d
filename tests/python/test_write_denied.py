"""Places where nothing may be written, and work that is broken off: an error that says so, nothing left over, nothing lost."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

import forthwith

NOBODY = 65534
# A superuser may write anywhere, so that the work is done by nobody then. It is done once elsewhere before, since nobody
# may not be able to read what Python would import.
PREFIX = f"""
import os, shutil, sys, tempfile
import forthwith
def work(folder):
    WORK
with tempfile.TemporaryDirectory() as elsewhere:
    shutil.copy(sys.argv[1] + "/old.root", elsewhere)
    os.chmod(elsewhere + "/old.root", 0o644)
    work(elsewhere)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
try:
    work(sys.argv[1])
except OSError as error:
    print(type(error).__name__, error.errno, str(error).replace(chr(10), " "))
else:
    print("written")
"""
WORKS = {
    "recreate": "with forthwith.recreate(folder + '/new.root') as file: file['t'] = {'x': [1.5]}",
    "over": "with forthwith.recreate(folder + '/old.root') as file: file['t'] = {'x': [1.5]}",
    "create": "with forthwith.create(folder + '/new.root') as file: file['t'] = {'x': [1.5]}",
    "update": "with forthwith.update(folder + '/old.root') as file: file['u'] = {'x': [1.5]}",
    "merge": "forthwith.merge([folder + '/old.root'] * 2, folder + '/new.root')",
    "parquet": "forthwith.write_parquet(folder + '/new.parquet', {'x': [1.5]})",
}


@pytest.fixture
def folder():
    """A folder that anybody may go to, with a file that anybody may read."""
    path = pathlib.Path(tempfile.mkdtemp())
    with forthwith.recreate(path / "old.root") as file:
        file["t"] = {"x": [0.5, 1.5]}
    (path / "old.root").chmod(0o444)
    path.chmod(0o555)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("work", WORKS)
def test_folders_that_may_not_be_written_stay_as_they_are(folder, work):
    before = (folder / "old.root").read_bytes()
    command = [sys.executable, "-c", PREFIX.replace("WORK", WORKS[work]), str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    told = ran.stdout.strip()
    assert told.startswith("DeniedFileError 13 "), (told, ran.stderr[-500:])
    assert str(folder) in told
    assert os.listdir(folder) == ["old.root"]
    assert (folder / "old.root").read_bytes() == before


INTERRUPTED = """
import sys
import numpy as np
import forthwith
path, make, how = sys.argv[1:4]
begin = {"recreate": forthwith.recreate, "update": forthwith.update}[how]
with begin(path) as file:
    table = getattr(file, make)("big", {"x": "f8", "n": "var * int32"})
    print("begun", flush=True)
    while True:
        table.extend({"x": np.arange(100_000.0), "n": [[1, 2]] * 100_000})
"""


@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
@pytest.mark.parametrize("how", ["recreate", "update"])
@pytest.mark.parametrize("delay", [0.02, 0.3])
def test_an_interrupted_step_leaves_what_was_there(tmp_path, make, how, delay):
    path = tmp_path / "x.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": [0.5, 1.5]}
    before = path.read_bytes()
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED, str(path), make, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert error.strip().endswith("KeyboardInterrupt"), error[-500:]
    assert os.listdir(tmp_path) == ["x.root"]
    with forthwith.open(path) as file:
        assert file.keys() == ["t;1"]
        assert file["t"]["x"].array().to_list() == [0.5, 1.5]
    if how == "recreate":
        assert path.read_bytes() == before


class Failing:
    """A file object that refuses after some bytes."""

    def __init__(self, most):
        self._most, self._all, self.refused = most, 0, 0

    def write(self, data):
        self._all += len(data)
        if self._all > self._most:
            self.refused += 1
            raise OSError(5, "the cable is out")
        return len(data)


@pytest.mark.parametrize("most", [0, 100, 5000, 60000])
@pytest.mark.parametrize("make", ["mktree", "mkrntuple"])
def test_a_file_object_that_fails_is_the_error(most, make):
    out = Failing(most)

    def write():
        with forthwith.recreate(out, compression=None) as file:
            table = getattr(file, make)("t", {"x": "f8"})
            for _ in range(20):
                table.extend({"x": [float(n) for n in range(1000)]})

    with pytest.raises(OSError, match="the cable is out"):
        write()
    assert out.refused == 1
