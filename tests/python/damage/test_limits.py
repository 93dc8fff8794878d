"""Memory of blocks that are decompressed, and files that are written while processes come and go."""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import DATA, TESTS

import forthwith

#: Reads a file in a process of its own and prints its error and the most memory it took, in MiB.
READ = """
    import resource, sys, warnings
    warnings.simplefilter("ignore")
    import forthwith
    path, memory = sys.argv[1:]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        forthwith.open(path, memory=memory or None).arrays(library="arrow")
        print("read")
    except forthwith.OutOfMemoryError as error:
        print(str(error).replace("\\n", " "))
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def run(code, *arguments):
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=TESTS.parent, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard", "bzip2", "xz", "lz4"])
def test_a_block_of_avro_that_expands_beyond_the_limit(codec, tmp_path):
    fastavro = pytest.importorskip("fastavro")
    path = tmp_path / "zeros.avro"
    with path.open("wb") as file:
        schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "bytes"}]}
        fastavro.writer(file, schema, [{"a": bytes(100_000_000)}], codec=codec)
    error, megabytes = run(READ, path, "10 MB")
    if codec != "null":
        name = {"zstandard": "zstd"}.get(codec, codec)
        assert f"the {name} block holds more than 10000000 bytes" in error
        assert "block 0" in error
    assert str(path) in error
    assert int(megabytes) < 100
    if codec in ("null", "deflate", "snappy", "lz4"):
        # Of the others 4096 bytes for each stored one are believed.
        assert run(READ, path, "")[0] == "read"


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "brotli", "lz4"])
def test_a_page_of_parquet_that_expands_beyond_the_limit(codec, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "zeros.parquet"
    table = pa.table({"a": pa.array([0.0] * 4_000_000)})
    parquet.write_table(table, path, compression=codec, use_dictionary=False, data_page_size=1 << 26)
    error, megabytes = run(READ, path, "10 MB")
    assert error != "read"
    assert int(megabytes) < 100


@pytest.mark.parametrize(("branch", "codec"), [("zlib", "zlib"), ("lzma", "xz"), ("lz4", "lz4"), ("zstd", "zstd")])
def test_a_basket_that_expands_beyond_the_limit(branch, codec):
    with forthwith.open(DATA / "multiblock.root", memory=1_000_000) as file:
        with pytest.raises(forthwith.OutOfMemoryError, match=f"the {codec} block holds more than 1000000") as caught:
            # Two entries, so that the column itself is small.
            file["blocks"][branch].array(entry_stop=2, library="np")
        assert "basket 0" in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_child_leaves_what_its_parent_writes(tmp_path):
    path = tmp_path / "a.avro"
    code = """
        import os, sys, forthwith, numpy as np
        path = sys.argv[1]
        writer = forthwith.avro_writer(path)
        writer.write({"a": np.arange(1000)})
        for how in ("exit", "drop", "close", "write"):
            child = os.fork()
            if child == 0:
                try:
                    if how == "drop":
                        del writer
                    elif how == "close":
                        writer.close()
                    elif how == "write":
                        for _ in range(100):
                            writer.write({"a": np.random.default_rng(1).integers(0, 1 << 60, 100_000)})
                except forthwith.ForthwithError as error:
                    print(how, "process" in str(error) and "forked" in str(error), flush=True)
                sys.exit(0)
            assert os.waitpid(child, 0)[1] == 0
        writer.write({"a": np.arange(1000)})
        writer.close()
    """
    pytest.importorskip("numpy")
    assert run(code, path) == ["close True", "write True"]
    assert os.listdir(tmp_path) == ["a.avro"]
    assert forthwith.open(path)["a"].array(library="np").sum() == 2 * sum(range(1000))


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_links_as_destinations(tmp_path):
    (tmp_path / "link.avro").symlink_to("target.avro")
    forthwith.write_avro(tmp_path / "link.avro", {"a": [1, 2]})
    assert (tmp_path / "link.avro").is_symlink()
    assert len(forthwith.open(tmp_path / "target.avro")) == 1
    assert forthwith.open(tmp_path / "target.avro").num_entries == 2
    (tmp_path / "loop.avro").symlink_to("loop.avro")
    with pytest.raises(forthwith.ForthwithError, match=r"loop\.avro"):
        forthwith.write_avro(tmp_path / "loop.avro", {"a": [1, 2]})
    assert (tmp_path / "loop.avro").is_symlink()
