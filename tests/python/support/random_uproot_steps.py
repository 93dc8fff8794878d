"""Random requests of `forthwith.uproot.iterate`, which are answered by one tree of each schema and by a tree for each file.

Run with a number of seeds and the first one: ``python random_uproot_steps.py 1000 0``.
"""

import pathlib
import random
import sys
import tempfile

import numpy as np
from random_uproot_chains import request, same, trees

from forthwith import uproot
from forthwith.uproot import _tree_steps

SIZES = [1, 2, 7, 1000, "60 B", "200 B", "1 kB", "100 MB", 0, -1, "much", None, 2.5, 1 << 70]


def asked(rng):
    """Positional arguments and options of a call."""
    (expressions, cut), options = request(rng, 30)
    # The entries of each tree.
    for name in ("entry_start", "entry_stop"):
        if rng.random() < 0.2:
            options[name] = rng.choice(
                [rng.randint(-30, 40), rng.randint(-3, 3), 1 << 70, -(1 << 70), np.int64(2), "1"]
            )
    if rng.random() < 0.9:
        options["step_size"] = rng.choice(SIZES[:8] if rng.random() < 0.95 else SIZES)
    if rng.random() < 0.05:
        options["ak_add_doc"] = True
    if rng.random() < 0.05:
        options["filter_typename"] = "double"
    if rng.random() < 0.05:
        expressions = rng.choice([["Entry$", "i"], [], {"i": "i4"}, ["f", "get('i')"]])
    return (expressions, cut), options


def place_of(place, looks):
    """What a report says; if it ``looks``, of the tree as well, which is opened for it."""
    entries = place.start, place.stop, place.tree_entry_start, place.tree_entry_stop, place.global_offset
    if not looks:
        return *entries, place.file_path
    tree = place.tree
    requested = place.file.source.num_requested_bytes
    return *entries, place.file_path, type(place.source).__name__, tree.name, tree.num_entries, requested


def stepped(files, positional, options, looks):
    """The steps up to the error, if there is one, and its type and text."""
    steps = []
    try:
        for number, (found, place) in enumerate(uproot.iterate(files, *positional, report=True, **options)):
            steps.append((found, place_of(place, looks(number))))
    except Exception as error:  # any: it is compared
        return steps, (type(error), str(error))
    return steps, None


def compare(seed):
    """Compares the two ways for some random files. Returns how many trees were read by the columns of another one."""
    rng = random.Random(seed)
    saved = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = trees(folder, rng)
        if rng.random() < 0.1:
            with uproot.recreate(folder / "other.root") as file:
                file.mktree("u", {"i": [1, 2]})
            files.insert(rng.randrange(len(files)), f"{folder}/other.root:t")
        for _ in range(6):
            positional, options = asked(rng)
            every = rng.choice([1, 2, 1000])

            def looks(number, every=every):
                return number % every == every - 1

            made, whole = set(), _tree_steps.StepReport.__init__

            def spying(self, read, *args, whole=whole, made=made):
                made.add(read.number)
                whole(self, read, *args)

            _tree_steps.StepReport.__init__ = spying
            try:
                new = stepped(files, positional, options, looks)
            finally:
                _tree_steps.StepReport.__init__ = whole
            saved += len(made)
            columns_of = _tree_steps.columns_of
            _tree_steps.columns_of = lambda *_, **__: None
            try:
                old = stepped(files, positional, options, looks)
            finally:
                _tree_steps.columns_of = columns_of
            where = seed, positional, options, new, old
            assert new[1] == old[1], where
            assert [place for _, place in new[0]] == [place for _, place in old[0]], where
            assert same([found for found, _ in new[0]], [found for found, _ in old[0]]), where
    return saved


if __name__ == "__main__":
    count, first = (int(text) for text in [*sys.argv[1:], "100", "0"][:2])
    saved = sum(compare(seed) for seed in range(first, first + count))
    print(saved, "trees were read by the columns of another one")
