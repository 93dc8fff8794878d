"""limits.py PROGRAM FOLDER [FLOATS] [ROUNDS] [CODEC]...: two threads on one file beside two processes, and what plain writes allow.

PROGRAM is the built example ``write_ntuple`` of the crate ``forthwith``; FOLDER should be in memory. Each round runs one thread, two threads on one file, and two processes on two files, of
PROGRAM and of plain writes of as many bytes, one after the other, so that what else the machine does meets all of them. A file has one
lock for all who write to it, and new pages come from one place: the share of plain writes is what no writer of one file can pass without a
codec. Printed are medians by the clock on the wall: gains in units of what one thread writes, and shares, which are gain over gain.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

PLAIN = """
import os, sys, threading, time
path, threads, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
data = memoryview(os.urandom(1 << 20) * (size >> 20))
if os.path.exists(path):
    os.unlink(path)
begin = time.perf_counter()
file = os.open(path, os.O_CREAT | os.O_WRONLY)
def write(first):
    for at in range(first << 20, len(data), threads << 20):
        os.pwrite(file, data[at : at + (1 << 20)], at)
others = [threading.Thread(target=write, args=[first]) for first in range(1, threads)]
for other in others:
    other.start()
write(0)
for other in others:
    other.join()
os.close(file)
print(time.perf_counter() - begin)
"""


def plain(path: str, threads: int, size: int) -> subprocess.Popen[str]:
    """Starts plain writes of some bytes."""
    command = [sys.executable, "-c", PLAIN, path, str(threads), str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def written(program: str, path: str, threads: int, depth: int, codec: str, floats: int) -> subprocess.Popen[str]:
    """Starts forthwith's writing."""
    command = [program, path, str(depth), codec, str(floats), "1", str(threads)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def seconds(process: subprocess.Popen[str], at: int) -> float:
    """What a process says that it took."""
    return float(process.communicate()[0].split()[at])


def main(program: str, folder: str, floats: int = 16_000_000, rounds: int = 9, *codecs: str) -> None:
    """Prints the table."""
    print(
        "depth codec   one ms   gain of threads, of processes, share   plain: one ms, threads, processes, share   of plain's"
    )
    for depth in (0, 3):
        for codec in codecs or ("none", "lz4", "zstd"):

            def ours(name: str, threads: int, depth: int = depth, codec: str = codec) -> subprocess.Popen[str]:
                return written(program, f"{folder}/{name}.root", threads, depth, codec, floats)

            def theirs(name: str, threads: int) -> subprocess.Popen[str]:
                return plain(f"{folder}/{name}.bin", threads, 4 * floats)

            times: dict[str, list[tuple[float, float, float]]] = {"ours": [], "plain": []}
            for _ in range(rounds):
                for way, start, at in (("ours", ours, 1), ("plain", theirs, 0)):
                    one, two = seconds(start("a", 1), at), seconds(start("a", 2), at)
                    both = [start(name, 1) for name in "ab"]
                    times[way].append((one, two, max(seconds(process, at) for process in both)))
                    time.sleep(0.01)
            line, shares = f"{depth:5} {codec:5}", []
            for taken in times.values():
                one, two, both = (statistics.median(round[at] for round in taken) for at in range(3))
                shares.append(both / two / 2)
                line += f" {1e3 * one:8.1f} {one / two:8.2f} {2 * one / both:8.2f} {shares[-1]:8.2f}"
            print(f"{line} {shares[0] / shares[1]:8.2f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:5]), *sys.argv[5:])
