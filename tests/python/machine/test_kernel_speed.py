"""Every loop over numbers keeps up with memory: a column that is read or written whole, beside a copy of the same bytes.

A loop whose body is not inlined, or not compiled for the processor at hand, gives the same values at a tenth of the speed, and
no other test sees it. The floors are a third of what the slowest build for releases reaches, so that a busy machine passes and
such a loop does not.

What is read lands in memory that the process has had before, so the copy beside it does too. A file that grows while it is
written takes memory that the system hands out page by page, which costs ten times what a copy within a processor's cache
costs; the copy beside it therefore goes to such memory. Without that the share would be that of the processor's cache.
"""

import io
import mmap
import time

import awkward as ak
import numpy as np
import pytest

import forthwith

pytestmark = [
    pytest.mark.skipif(not forthwith.optimised, reason="a build without optimisation has no speed to compare"),
    pytest.mark.slow,
    pytest.mark.alone,
]

NUMBERS = 1 << 23  # more than a processor's cache holds, so that the copy beside a reading is one of memory
WRITTEN = 1 << 21
RAMP = np.arange(NUMBERS) % 120


def quickest(call, rounds=7):
    """The shortest time of several: what the machine's other work adds is left out."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - began)
        del result
    return best


def to_memory_in_use(source):
    """A call that copies the bytes over the same array again and again."""
    target = source.copy()
    return lambda: np.copyto(target, source)


def to_new_memory(source):
    """A call that copies the bytes to pages that the process has not touched before."""

    def copy():
        pages = mmap.mmap(-1, len(source), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        new = np.frombuffer(pages, "u1")
        new[:] = source
        return new

    return copy


def share_of_copy(size, call, copy):
    """How fast `call` goes through `size` bytes, as a part of the speed at which `copy` goes through them."""
    copy = copy(np.ones(size, "u1"))
    return max(quickest(copy) / quickest(call) for _ in range(2))


def lists(values, *lengths):
    for length in lengths:
        values = ak.unflatten(values, np.full(len(values) // length, length))
    return values


def assert_share(floor, size, call, copy):
    """Fails when the call stays below the floor three times, with pauses in which the machine may become quiet."""
    shares = []
    for pause in (0, 1, 3):
        time.sleep(pause)
        shares.append(share_of_copy(size, call, copy))
        if shares[-1] >= floor:
            return
    pytest.fail(f"{max(shares):.3f} of the speed of a copy, {floor} at least were expected")


def tree(column, compression=None, **options):
    out = io.BytesIO()
    with forthwith.recreate(out, compression=compression) as file:
        file.mktree("t", {"x": column}, **options)
    return out.getvalue()


def ntuple(column, compression=None, **options):
    out = io.BytesIO()
    with forthwith.recreate(out, compression=compression) as file:
        file.mkrntuple("t", {"x": column}, **options)
    return out.getvalue()


def parquet(column, **options):
    import pyarrow as pa
    from pyarrow import parquet

    out = io.BytesIO()
    parquet.write_table(pa.table({"x": column}), out, compression=None, **options)
    return out.getvalue()


def numbers(dtype, count=NUMBERS):
    return RAMP[:count].astype(dtype)


def constant(dtype, count=NUMBERS):
    """Numbers that a codec unpacks as fast as memory is filled, so that the loop after it is what takes time."""
    return np.zeros(count, dtype)


READS = {
    "tree, bool": (lambda: tree(numbers("?")), 1, 0.1),
    "tree, 16 bits": (lambda: tree(numbers("i2")), 2, 0.1),
    "tree, 32 bits": (lambda: tree(numbers("f4")), 4, 0.2),
    "tree, 64 bits": (lambda: tree(numbers("f8")), 8, 0.3),
    "tree, lists": (lambda: tree(lists(numbers("f4"), 4)), 4, 0.15),
    "tree, lists of lists": (lambda: tree(lists(numbers("f4"), 4, 4)), 4, 0.1),
    "ntuple, bits": (lambda: ntuple(numbers("?")), 1, 0.1),
    "ntuple, 32 bits": (lambda: ntuple(numbers("f4")), 4, 0.2),
    "ntuple, planes of 16 bits": (lambda: ntuple(constant("u2"), forthwith.ZSTD(1)), 2, 0.1),
    "ntuple, planes of 32 bits": (lambda: ntuple(constant("f4"), forthwith.ZSTD(1)), 4, 0.2),
    "ntuple, planes of 64 bits": (lambda: ntuple(constant("f8"), forthwith.ZSTD(1)), 8, 0.3),
    "ntuple, planes of zigzag": (lambda: ntuple(constant("i4"), forthwith.ZSTD(1)), 4, 0.2),
    "ntuple, planes of differences": (lambda: ntuple(lists(constant("u1"), 1), forthwith.ZSTD(1)), 8, 0.1),
    "parquet, 64 bits": (lambda: parquet(numbers("f8"), use_dictionary=False), 8, 0.2),
    "parquet, dictionary": (lambda: parquet(numbers("f8")), 8, 0.1),
    "parquet, lists": (lambda: parquet(ak.to_arrow(lists(numbers("f4"), 4)), use_dictionary=False), 4, 0.05),
}


@pytest.mark.parametrize("case", READS)
def test_a_column_is_read_at_the_speed_of_memory(tmp_path, case):
    make, width, floor = READS[case]
    path = tmp_path / "x"
    path.write_bytes(make())
    with forthwith.open(path) as file:
        source = file["t"] if hasattr(file, "keys") and "t" in file else file
        assert_share(floor, NUMBERS * width, lambda: source.arrays(["x"]), to_memory_in_use)


WRITES = {
    "tree, 32 bits": (tree, lambda: numbers("f4", WRITTEN), 4, 0.15),
    "tree, lists": (tree, lambda: lists(numbers("f4", WRITTEN), 4), 4, 0.08),
    "ntuple, 32 bits": (ntuple, lambda: numbers("f4", WRITTEN), 4, 0.18),
    "ntuple, planes of 32 bits": (lambda x: ntuple(x, forthwith.ZSTD(1)), lambda: constant("f4", WRITTEN), 4, 0.6),
}


@pytest.mark.parametrize("case", WRITES)
def test_a_column_is_written_at_the_speed_of_memory(case):
    write, make, width, floor = WRITES[case]
    column = make()
    assert_share(floor, WRITTEN * width, lambda: write(column), to_new_memory)
