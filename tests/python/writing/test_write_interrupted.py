"""Writing that is broken off, by a user or by what is written to: nothing left over, nothing lost."""

import os
import signal
import subprocess
import sys
import time

import pytest

import forthwith

INTERRUPTED = """
import sys
import numpy as np
import forthwith
path, make, how = sys.argv[1:4]
begin = {"recreate": forthwith.recreate, "update": forthwith.update}[how]
with begin(path) as file:
    table = getattr(file, make)("big", {"x": "f8", "n": "var * int32"})
    step = {"x": np.arange(100_000.0), "n": [[1, 2]] * 100_000}
    # The first step imports packages, and Python loses an interrupt that comes when an import ends.
    table.extend(step)
    print("begun", flush=True)
    while True:
        table.extend(step)
"""


@pytest.mark.slow
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
        try:
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
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
