"""Tables of many columns take time in proportion to these, not to their square."""

import time

import numpy as np
import pytest

import forthwith

FEW, FACTOR, ROUNDS = 2000, 16, 4

# Of so many columns one may take as much longer: caches and page tables have their part, and a square would be FACTOR.
BOUND = 4


def write_tree(folder, columns):
    with forthwith.recreate(folder / "t.root") as file:
        file["t"] = columns


def extend_tree(folder, columns):
    with forthwith.update(folder / "t.root") as file:
        file["t"].extend(columns)


def write_ntuple(folder, columns):
    with forthwith.recreate(folder / "n.root") as file:
        file.mkrntuple("n", columns).extend(columns)


def write_avro(folder, columns):
    forthwith.write_avro(folder / "a.avro", columns)


def write_parquet(folder, columns):
    forthwith.write_parquet(folder / "p.parquet", columns)


def write_csv(folder, columns):
    forthwith.write_csv(folder / "c.csv", columns)


def write_json(folder, columns):
    forthwith.write_json(folder / "j.jsonl", columns)


def cut(folder, columns):
    cut = forthwith.open(folder / "p.parquet").arrays(cut="column7 > 0", library="np")
    assert len(cut) == len(columns)


def compare(folder, columns):
    assert forthwith.diff(folder / "p.parquet", folder / "a.avro")["same"]


def read(name):
    def reads(folder, columns):
        assert len(forthwith.open(f"{folder}/{name}").arrays(library="np")) == len(columns)

    return reads


WORK = {
    "a tree is written": write_tree,
    "a tree is read": read("t.root:t"),
    "a tree is extended": extend_tree,
    "an RNTuple is written": write_ntuple,
    "an RNTuple is read": read("n.root:n"),
    "Avro is written": write_avro,
    "Avro is read": read("a.avro"),
    "Parquet is written": write_parquet,
    "Parquet is read": read("p.parquet"),
    "Parquet is read with a cut": cut,
    "Parquet is compared": compare,
    "CSV is written": write_csv,
    "CSV is read": read("c.csv"),
    "JSON is written": write_json,
    "JSON is read": read("j.jsonl"),
}


@pytest.mark.slow
@pytest.mark.alone
def test_many_columns_take_time_in_proportion(tmp_path):
    """A table of many columns takes what as many columns in tables of few take, within a bound far below that of a square.

    Work of the same length is compared, so that whatever else the process does by the way, and a machine that is slow for
    a while, weighs on both. The least time of each counts, and rounds go on while the bound is passed: what columns
    themselves cost is not made less by more rounds.
    """
    columns = {count: {f"column{at}": np.arange(3.0) for at in range(count)} for count in (FEW, FEW * FACTOR)}
    for count in columns:
        (tmp_path / str(count)).mkdir()
    seconds, ratios = {}, {}
    for _ in range(ROUNDS):
        for name, work in WORK.items():
            for count, times in ((FEW, FACTOR), (FEW * FACTOR, 1)):
                began = time.process_time()
                for _ in range(times):
                    work(tmp_path / str(count), columns[count])
                taken = time.process_time() - began
                seconds[count, name] = min(taken, seconds.get((count, name), taken))
        ratios = {name: seconds[FEW * FACTOR, name] / seconds[FEW, name] for name in WORK}
        if max(ratios.values()) < BOUND:
            break
    assert max(ratios.values()) < BOUND, ratios
