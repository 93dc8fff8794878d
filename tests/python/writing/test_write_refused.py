"""Folders and files that may not be written: an error that names them, nothing lost, and no other file."""

import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

import forthwith

# Runs without the rights of an administrator, whom no permission stops.
SCRIPT = """
import json, os, sys, tempfile
import numpy as np
import forthwith
folder, work = sys.argv[1:]
# All modules are there before the rights go.
with tempfile.TemporaryDirectory() as warm:
    for step in range(2):
        with forthwith.recreate(warm + "/a.root") as file:
            file["t"] = {"x": np.arange(3.0)}
    with forthwith.update(warm + "/a.root") as file:
        file["t"].extend({"x": np.arange(3.0)})
    forthwith.merge([warm + "/a.root"] * 2, warm + "/b.root")
    try:
        forthwith.open(warm + "/none.root")
    except forthwith.SourceError:
        pass
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
try:
    if work == "merge":
        forthwith.merge(folder + "/old.root", folder + "/new.root")
    elif work == "merge over":
        forthwith.merge(folder + "/other/a.root", folder + "/old.root")
    elif work == "unreadable":
        forthwith.merge([folder + "/old.root", folder + "/secret.root"], folder + "/open/new.root")
    else:
        how, name = work.split()
        with getattr(forthwith, how)(f"{folder}/{name}.root") as file:
            if how == "update":
                file["t"].extend({"x": np.arange(3.0)})
            else:
                file["t"] = {"x": np.arange(3.0)}
    print(json.dumps(None))
except BaseException as error:
    print(json.dumps([type(error).__name__, getattr(error, "errno", None), str(error)]))
"""


@pytest.fixture
def folder():
    """A folder that nobody may write, with a file that nobody may write, and one that nobody may read."""
    made = pathlib.Path(tempfile.mkdtemp())
    try:
        for name in ("old.root", "secret.root", "other/a.root"):
            (made / name).parent.mkdir(exist_ok=True)
            with forthwith.recreate(made / name) as file:
                file["t"] = {"x": [1.0, 2.0]}
        (made / "open").mkdir()
        (made / "open").chmod(0o777)
        (made / "old.root").chmod(0o444)
        (made / "secret.root").chmod(0o000)
        (made / "other").chmod(0o755)
        made.chmod(0o555)
        yield made
    finally:
        made.chmod(0o755)
        shutil.rmtree(made)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
@pytest.mark.parametrize(
    ("work", "named"),
    [
        ("create new", "new.root"),
        ("recreate new", "new.root"),
        ("recreate old", "old.root"),
        ("update old", "old.root"),
        ("merge", "new.root"),
        ("merge over", "old.root"),
        ("unreadable", "secret.root"),
    ],
)
def test_what_may_not_be_written_or_read_is_named(folder, work, named):
    old = (folder / "old.root").read_bytes()
    files = sorted(folder.rglob("*"))
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, str(folder), work]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name, number, text = json.loads(done.stdout)
    assert (name, number) == ("DeniedFileError", errno.EACCES), text
    assert named in text
    assert "ermission denied" in text
    assert (folder / "old.root").read_bytes() == old
    assert sorted(folder.rglob("*")) == files


def test_a_damaged_list_of_keys_is_said_where_it_is(tmp_path):
    """The byte is that of the file, as it is when the file is read."""
    path = tmp_path / "a.root"
    with forthwith.create(path) as file:
        file["x"] = "one"
        file["y"] = "two"
    data = path.read_bytes()

    def number(at, size=4):
        return int.from_bytes(data[at : at + size], "big")

    directory = number(8) + number(28)
    keys = number(directory + 26) + number(number(directory + 26) + 14, 2)
    for at in (keys, keys + 4 + 4):
        path.write_bytes(data[:at] + b"\x7f\xff\xff\xff" + data[at + 4 :])
        found = []
        for call in (forthwith.update, lambda path: forthwith.open(path).keys()):
            with pytest.raises(forthwith.DamagedFileError) as caught:
                call(path)
            found.append(caught.value.byte)
        assert found[0] == found[1] >= keys
