"""Writers and merge in a process whose memory ends: an error that can be caught, or a file, never the end of the process."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")
if sys.platform != "linux":
    pytest.skip("the size of a process is read from /proc", allow_module_level=True)

CHILD = """
import forthwith, numpy as np, resource, sys
x = np.random.default_rng(1).random(2_000_000)

def tree(x):
    with forthwith.recreate("1.root", compression="zstd") as file:
        file["t"] = {"x": x}

def ntuple(x):
    with forthwith.recreate("2.root") as file:
        file.mkrntuple("t", {"x": "f8"}).extend({"x": x})

def merge(x):
    forthwith.merge("0.root", "3.root", compression="lzma:1")

writers = [
    tree,
    ntuple,
    merge,
    lambda x: forthwith.write_parquet("4.parquet", {"x": x}),
    lambda x: forthwith.write_avro("5.avro", {"x": x}),
]
for write in writers:  # what is imported is, before the limit
    with forthwith.recreate("0.root", compression="zstd") as file:
        file["t"] = {"x": x[:10]}
    write(x[:10])
with forthwith.recreate("0.root", compression="zstd") as file:
    file["t"] = {"x": x}
size = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")) << 10
resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]), -1))
for write in writers:
    try:
        write(x)
    except (forthwith.OutOfMemoryError, MemoryError):
        print("no memory")
print("alive")
"""


@pytest.mark.slow
@pytest.mark.parametrize("left", [300_000, 3_000_000])
def test_writers_raise_where_memory_ends(tmp_path, left):
    command = [sys.executable, "-W", "ignore", "-c", CHILD, str(left)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("alive\n")
