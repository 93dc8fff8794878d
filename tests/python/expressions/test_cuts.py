"""Cuts over all formats against entries chosen row by row, and the bytes that they read."""

import io
import subprocess
import sys

import awkward as ak
import numpy as np
import pytest
from random_cuts import campaign
from range_server import serving

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

BLOCKS, EACH = 100, 2000


class Counted(io.BytesIO):
    """A file whose bytes are counted when they are read."""

    count = 0

    def read(self, *size):
        """Reads and counts."""
        found = super().read(*size)
        self.count += len(found)
        return found

    def readinto(self, buffer):
        """Reads and counts."""
        count = super().readinto(buffer)
        self.count += count
        return count


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5])
def test_random_cuts_leave_the_entries_that_pass(seed):
    problems, parted = campaign(seed, 300)
    assert not problems, "\n".join(problems[:5])
    assert parted > 100


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """A table of a hundred blocks, in one of which the flag is set, in three formats."""
    folder = tmp_path_factory.mktemp("sparse")
    random = np.random.default_rng(1)
    columns = {"flag": (np.arange(BLOCKS * EACH) // EACH == 41).astype(np.int32)}
    columns |= {f"x{at}": random.normal(size=BLOCKS * EACH) for at in range(8)}
    pq.write_table(
        pa.table(columns), folder / "x.parquet", row_group_size=EACH, use_dictionary=False, compression="none"
    )
    with forthwith.recreate(folder / "x.root", compression=None) as file:
        file.mktree("t", columns, cluster_entries=EACH)
    return folder, columns


@pytest.mark.parametrize("name", ["x.parquet", "x.root:t"])
def test_a_cut_reads_its_columns_and_the_blocks_that_have_entries(sparse, name):
    folder, columns = sparse
    path, _, inner = name.partition(":")

    def read(**options):
        counted = Counted((folder / path).read_bytes())
        file = forthwith.open(counted)
        tree = file[inner] if inner else file
        len(tree.arrays(["x0"], entry_stop=1))
        before = counted.count
        found = tree.arrays(list(columns), **options)
        return found, counted.count - before

    whole, all_bytes = read()
    found, some_bytes = read(cut="flag == 1")
    assert found.x3.to_list() == columns["x3"][columns["flag"] == 1].tolist()
    cut_bytes, rest = BLOCKS * EACH * 4, 8 * BLOCKS * EACH * 8
    assert all_bytes >= cut_bytes + rest
    if inner:
        assert some_bytes <= 1.1 * (cut_bytes + rest / BLOCKS)
    else:
        # The statistics say in which row group the flag may be set.
        assert some_bytes <= 1.1 * (cut_bytes + rest) / BLOCKS
    assert len(read(cut="flag > 1")[0]) == 0
    assert len(read(cut="flag == 0")[0]) == len(whole) - EACH


def test_a_cut_of_a_remote_file_is_few_requests(sparse):
    folder, columns = sparse
    with serving({"/x.root": (folder / "x.root").read_bytes()}) as server:

        def read(cut):
            with forthwith.open(f"{server.url}/x.root:t") as tree:
                tree.arrays(["x0"], entry_stop=1)
                server.requests.clear()
                server.sent = 0
                found = tree.arrays(list(columns), cut=cut)
            return found, server.sent, len(server.requests)

        # The baskets of the cut lie a cluster apart from each other, and those of the one cluster side by side.
        cut_bytes, rest = BLOCKS * EACH * 4, 8 * BLOCKS * EACH * 8
        found, sent, requests = read("flag == 1")
        assert found.x3.to_list() == columns["x3"][columns["flag"] == 1].tolist()
        assert sent <= 1.1 * (cut_bytes + rest / BLOCKS)
        assert requests <= 20
        found, sent, requests = read("flag > 1")
        assert len(found) == 0
        assert sent <= 1.1 * cut_bytes
        assert requests <= 19


@pytest.mark.parametrize("dictionary", [False, True])
def test_pages_in_which_nothing_passes_are_not_fetched(tmp_path, dictionary):
    count, each = 200_000, 2_000
    random = np.random.default_rng(2)
    n = np.arange(count)
    columns = {
        "n": n,
        "x": random.normal(size=count),
        "some": pa.array([None if at % 3 == 0 else float(at) for at in range(count)]),
        "few": random.integers(0, 50, count),
        "text": pa.array([f"{at // 100:05}" for at in range(count)]),
    }
    rows = {"use_dictionary": dictionary, "compression": "none", "write_batch_size": each, "row_group_size": count}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(columns), path, write_page_index=True, data_page_size=1, **rows)
    content = path.read_bytes()
    whole = pq.read_table(path).to_pydict()

    def read(**options):
        counted = Counted(content)
        tree = forthwith.open(counted)
        before = counted.count
        return tree.arrays(library="arrow", **options).to_pydict(), counted.count - before

    for cut, entries in {
        "n == 12345": range(12_345, 12_346),
        "n > 101_999 and n < 104_001": range(102_000, 104_001),
        "text == '01999'": range(199_900, 200_000),
        "some < 3": range(1, 3),
        "n < 0": range(0),
    }.items():
        found, some_bytes = read(cut=cut)
        assert found == {name: [values[at] for at in entries] for name, values in whole.items()}, cut
        # Some pages of a hundred, and the indexes. Of what has a dictionary, all pages from that on are read.
        assert some_bytes < len(content) * (0.1 if not dictionary else 1.01), cut
    # Entries by number read the pages that have them.
    found, some_bytes = read(entry_start=150_001, entry_stop=150_003)
    assert found == {name: values[150_001:150_003] for name, values in whole.items()}
    assert some_bytes < len(content) * (0.1 if not dictionary else 1)
    for _ in range(30):
        start, stop = sorted(int(at) for at in random.integers(0, count + 1, 2))
        found, _ = read(entry_start=start, entry_stop=stop)
        assert found == {name: values[start:stop] for name, values in whole.items()}


def test_indexes_of_pages_that_lie_are_no_panic(tmp_path):
    n = np.arange(20_000)
    path = tmp_path / "x.parquet"
    table = pa.table({"n": n, "x": n * 0.5, "s": [str(at) for at in n]})
    pq.write_table(table, path, write_page_index=True, data_page_size=1, write_batch_size=500, use_dictionary=False)
    content = path.read_bytes()
    wanted = table.slice(7_000, 10).to_pydict()
    # The indexes stand between the pages and the footer.
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    first = pq.ParquetFile(path).metadata.row_group(0).column(2)
    begin = first.data_page_offset + first.total_compressed_size
    assert begin < footer
    check = [sys.executable, "-m", "forthwith", "check", str(tmp_path / "bad.parquet")]
    random, answers, unnoticed = np.random.default_rng(3), set(), 0
    for _ in range(300):
        bad = bytearray(content)
        for at in random.integers(begin, footer, int(random.integers(1, 4))):
            bad[at] = int(random.integers(0, 256))
        with forthwith.open(io.BytesIO(bytes(bad))) as tree:
            try:
                found = tree.arrays(entry_start=7_000, entry_stop=7_010, library="arrow").to_pydict()
                answers.add(found == wanted)
                # Of whole pages that are not where the index says nothing tells; a check does.
                if found != wanted:
                    (tmp_path / "bad.parquet").write_bytes(bad)
                    unnoticed += subprocess.run(check, check=False, capture_output=True).returncode == 0
                tree.arrays(cut="n > 6_999 and n < 7_010")
            except forthwith.ForthwithError:
                answers.add(None)
    assert True in answers
    assert unnoticed == 0


def test_statistics_are_those_of_values_that_are_no_nan_and_not_missing(tmp_path):
    nan = float("nan")
    table = pa.table(
        {
            "f": pa.array([nan, 1.0, nan, nan, None, None], pa.float64()),
            "s": pa.array(["a", "b", None, "é", None, None]),
            "u": pa.array([2**63, 2**64 - 1, 0, 1, None, None], pa.uint64()),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=2)
    with forthwith.open(tmp_path / "x.parquet") as file:
        for cut, entries in {
            "f != 1": [0, 2, 3],
            "not (f == 1)": [0, 2, 3],
            "f > 0": [1],
            "s >= 'b'": [1, 3],
            "s < 'b'": [0],
            "u > 5": [0, 1],
            "u + 1 == 0": [1],
            "u < 1 or isnan(f)": [0, 2, 3],
        }.items():
            found = file.select(["s"], cut=cut).arrays(library="pd")
            assert found.index.tolist() == entries, cut
            assert file.arrays(["s"], cut=cut, entry_start=1).s.to_list() == [
                table["s"][at].as_py() for at in entries if at >= 1
            ], cut


def test_steps_of_values_in_dictionaries_are_as_large_as_they_are_in_memory(tmp_path):
    count = 500_000
    flat = np.arange(count) % 7 * 1.0
    lists = pa.array([[1.5, 2.5], None, [], [3.5]] * (count // 4))
    columns = {"x": flat, "y": pa.array(flat.astype(np.int8)), "l": lists}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=50_000)
    with forthwith.open(tmp_path / "x.parquet") as file:
        for names in (["x"], ["x", "y"], ["l"]):
            sizes = [step.nbytes for step in file.iterate(names, step_size="1 MB", library="ak")]
            assert max(sizes) < 1.2e6, names
            assert len(sizes) < 2.5 * sum(sizes) / 1e6, names


def test_chains_of_columns_that_may_lack_values_and_such_as_may_not(tmp_path):
    with forthwith.recreate(tmp_path / "a.root") as file:
        file["t"] = {"x": np.arange(3), "l": [[1.5], [], [2.5]]}
    pq.write_table(pa.table({"x": [7, None], "l": [None, [3.5, None]]}), tmp_path / "b.parquet")
    chain = forthwith.open([f"{tmp_path}/a.root:t", f"{tmp_path}/b.parquet"])
    assert chain.arrays(["x", "l"], library="arrow").to_pydict() == {
        "x": [0, 1, 2, 7, None],
        "l": [[1.5], [], [2.5], None, [3.5, None]],
    }
    assert pa.table(chain.select(["x"], cut="x > 1 or x == 0")).to_pydict() == {"x": [0, 2, 7]}
    assert chain.arrays(["2 * l + x"])["2 * l + x"].to_list() == [[3.0], [], [7.0], None, None]


LISTS = [[], range(5000), range(700, 1900), range(0, 5000, 7), [0, 4999], [1234], [3, 4, 5, 900, 901, 4000]]


@pytest.mark.parametrize("codec", [None, forthwith.LZ4(4)])
def test_listed_entries_are_those_of_the_whole_whether_columns_are_decoded_alone_or_not(tmp_path, codec):
    random = np.random.default_rng(3)
    counts = random.integers(0, 4, 5000)
    lists = ak.unflatten(random.normal(size=counts.sum()).astype(np.float32), counts)
    columns = {
        "x": random.normal(size=5000),
        "pair": random.integers(0, 9, (5000, 2)),
        "flag": random.random(5000) < 0.5,
        "l": lists,
        "s": ak.Array([f"text {at}" for at in range(5000)]),
        "nested": ak.Array([[[at], []] for at in range(5000)]),
    }
    with forthwith.recreate(tmp_path / "x.root", compression=codec) as file:
        file.mktree("t", columns, cluster_entries=300)
    with forthwith.open(f"{tmp_path / 'x.root'}:t") as tree:
        whole = tree.arrays()
        assert ak.all(whole.l == lists)
        for entries in LISTS:
            found = tree.arrays(entries=list(entries))
            assert found.type.content == whole.type.content
            assert found.to_list() == whole[list(entries)].to_list()
            for name in columns:
                assert tree.arrays([name], entries=list(entries), threads=2)[name].to_list() == found[name].to_list()
