"""Trees of several files that `forthwith.uproot.concatenate` reads in one call."""

import numpy as np
import pytest
import random_uproot_chains

from forthwith import _forthwith, uproot


@pytest.mark.parametrize("first", [0, 1000])
def test_what_is_read_at_once_is_what_each_file_has(first):
    at_once = sum(random_uproot_chains.compare(seed) for seed in range(first, first + 8))
    assert at_once > 10, "too few requests are read at once"


def test_files_with_the_same_branches_are_read_in_one_call(tmp_path, monkeypatch):
    names = []
    for number in range(1, 6):
        path = tmp_path / f"{number}.root"
        with uproot.recreate(path) as file:
            file.mktree("t", {"x": np.arange(number, dtype="i4")})
        names.append(f"{path}:t")
    calls = []
    read = _forthwith.read_alike
    monkeypatch.setattr(_forthwith, "read_alike", lambda *args, **options: calls.append(1) or read(*args, **options))
    expected = [x for number in range(1, 6) for x in range(number)]
    for library in ("ak", "np", "pd"):
        found = uproot.concatenate(names, "x", library=library)
        assert (found["x"] if library != "pd" else found.x).tolist() == expected
    found = uproot.concatenate(names, "x", "x > 1", entry_stop=-1)
    assert found["x"].tolist() == [x for x in expected[:-1] if x > 1]
    assert len(calls) == 4
    # Files without entries to read are looked at as well.
    assert uproot.concatenate(names, "x", entry_start=2)["x"].tolist() == expected[2:]
    # One that is open already, or a file without the name of its tree, is read by itself.
    with uproot.open(names[4]) as tree:
        assert uproot.concatenate([names[3], tree], "x")["x"].tolist() == [*range(4), *range(5)]
    assert uproot.concatenate([name[:-2] for name in names], "x")["x"].tolist() == expected
    assert len(calls) == 4
