"""A bundled tree with a friend in another file, and copies in which that file has another name."""

import pathlib

from conftest import data

import forthwith

FRIEND = "in-a-file-with-a-long-name-beside-it.root"


def renamed_friend(tmp_path, friend):
    """A tree with a friend in a file of that name."""
    path = tmp_path / "inner" / "main.root"
    raw = pathlib.Path(data("friend.root")).read_bytes()
    # A byte of length, and the name.
    before, after = (bytes([len(name)]) + name.encode() for name in (FRIEND, friend.ljust(len(FRIEND))))
    assert raw.count(before) == 1
    path.write_bytes(raw.replace(before, after))
    return forthwith.open(f"{path}:main")
