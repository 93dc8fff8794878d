"""Expressions against NumPy (flat columns) and Awkward Array (lists): nanoseconds by the item, the best of some rounds.

``python benches/expressions/compare.py`` builds and runs the example of the crate, which computes the same.
"""

import subprocess
import time

import awkward as ak
import numpy as np

ENTRIES = 1_000_000
ROUNDS = 7


def theirs():
    """The same by NumPy and Awkward Array."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 5, ENTRIES)
    items = int(counts.sum())
    x, y = rng.random(ENTRIES, np.float32), rng.random(ENTRIES, np.float32)
    n = np.arange(ENTRIES, dtype=np.int32)
    px = ak.unflatten(rng.random(items, np.float32), counts)
    py = ak.unflatten(rng.random(items, np.float32), counts)
    return {
        "x * 2 + 1": (ENTRIES, lambda: x * 2 + 1),
        "sqrt(x**2 + y**2)": (ENTRIES, lambda: np.sqrt(x**2 + y**2)),
        "(x > 0.2) & (y < 0.8)": (ENTRIES, lambda: (x > 0.2) & (y < 0.8)),
        "where(x > y, x, y)": (ENTRIES, lambda: np.where(x > y, x, y)),
        "n % 7 == 3": (ENTRIES, lambda: n % 7 == 3),
        "x + n": (ENTRIES, lambda: x + n),
        "sqrt(px**2 + py**2)": (items, lambda: np.sqrt(px**2 + py**2)),
        "px * x": (items, lambda: px * x),
        "sum(px[px > 0.5])": (items, lambda: ak.sum(px[px > 0.5], axis=-1)),
        "any((px > 0.9) & (py > 0.9))": (items, lambda: ak.any((px > 0.9) & (py > 0.9), axis=-1)),
    }


def main():
    """Prints a table."""
    example = ["cargo", "run", "--release", "--quiet", "-p", "forthwith-expr", "--example", "speed"]
    said = subprocess.run(example, check=True, capture_output=True, text=True).stdout
    ours = {text: float(each) for text, each in (line.split("\t") for line in said.splitlines())}
    print(f"{'expression':32}{'forthwith':>12}{'other':>12}{'times as fast':>16}")
    for text, (count, compute) in theirs().items():
        best = float("inf")
        for _ in range(ROUNDS):
            began = time.perf_counter()
            compute()
            best = min(best, time.perf_counter() - began)
        other = best * 1e9 / count
        print(f"{text:32}{ours[text]:10.2f}ns{other:10.2f}ns{other / ours[text]:16.2f}")


if __name__ == "__main__":
    main()
