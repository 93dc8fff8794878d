"""Files for the figures of engines: ``data.py FOLDER`` makes eight trees of doubles and of lists."""

import pathlib
import sys

import awkward as ak
import numpy as np

import forthwith

FILES = 8
ENTRIES = 2_000_000
COLUMNS = [f"x{at}" for at in range(8)]


def files(folder):
    """The trees in a folder, which are made if they are not there."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for at in range(FILES):
        path = folder / f"events-{at}.root"
        if not path.exists():
            _write(path, at)
        made.append(f"{path}:t")
    return made


def _write(path, seed):
    """Doubles of which some bits are noise, entry numbers, and lists of one to four floats."""
    random = np.random.default_rng(seed)
    columns = {name: np.round(random.normal(size=ENTRIES), 3) for name in COLUMNS}
    columns["number"] = np.arange(ENTRIES) + seed * ENTRIES
    counts = random.integers(1, 5, ENTRIES)
    columns["pt"] = ak.unflatten(random.exponential(30, counts.sum()).astype(np.float32), counts)
    with forthwith.recreate(path, compression=forthwith.ZSTD(3)) as file:
        file.mktree("t", columns, cluster_bytes=8_000_000)


if __name__ == "__main__":
    print(*files(sys.argv[1]), sep="\n")
