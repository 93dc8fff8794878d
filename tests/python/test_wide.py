"""Tables of many columns take time in proportion to these, not to their square."""

import time

import numpy as np
import pytest

import forthwith

FEW, FACTOR, ROUNDS = 4000, 4, 6


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
}


@pytest.mark.slow
@pytest.mark.alone
def test_many_columns_take_time_in_proportion(tmp_path):
    """Four times as many may take twice what they should; a square would be four times that.

    The least time of each is compared. Both are timed in every round, so that a machine that is slow for a while is slow for
    both, and rounds go on while the bound is passed: what columns themselves cost is not made less by more rounds.
    """
    columns = {count: {f"column{at}": np.arange(3.0) for at in range(count)} for count in (FEW, FEW * FACTOR)}
    seconds, ratios = {}, {}
    for done in range(ROUNDS):
        for name, work in WORK.items():
            for count, table in columns.items():
                folder = tmp_path / str(count)
                folder.mkdir(exist_ok=True)
                began = time.process_time()
                work(folder, table)
                taken = time.process_time() - began
                seconds[count, name] = min(taken, seconds.get((count, name), taken))
        ratios = {name: seconds[FEW * FACTOR, name] / seconds[FEW, name] for name in WORK}
        if done > 0 and max(ratios.values()) < 2 * FACTOR:
            break
    assert max(ratios.values()) < 2 * FACTOR, ratios
