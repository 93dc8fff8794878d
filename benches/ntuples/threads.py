"""threads.py PROGRAM FOLDER [FLOATS] [ROUNDS]: what two threads gain on one RNTuple, beside two processes on two.

PROGRAM is the example ``write_ntuple`` of the crate ``forthwith``. Each round runs one thread, two threads, and two processes side by
side, one after the other, so that what else the machine does meets all of them; medians of the rounds are printed. The gain is what is
written in a second, in units of what one thread writes; the share is the gain of two threads over that of two processes.
"""

import shlex
import statistics
import subprocess
import sys


def start(program, path, depth, codec, floats, threads):
    arguments = [*shlex.split(program), path, depth, codec, floats, 1, threads]
    return subprocess.Popen([*map(str, arguments)], stdout=subprocess.PIPE, text=True)


def seconds(process):
    return float(process.communicate()[0].split()[1])


def main(program, folder, floats=16_000_000, rounds=7):
    print("depth codec  one s  two threads s  two processes s  gain threads  gain processes  share")
    for depth in (0, 3):
        for codec in ("zstd", "lz4", "none"):
            times = []
            for _ in range(rounds):
                one = seconds(start(program, f"{folder}/a.root", depth, codec, floats, 1))
                two = seconds(start(program, f"{folder}/a.root", depth, codec, floats, 2))
                both = [start(program, f"{folder}/{name}.root", depth, codec, floats, 1) for name in "ab"]
                times.append((one, two, max(map(seconds, both))))
            one, two, both = map(statistics.median, zip(*times, strict=True))
            gains = one / two, 2 * one / both
            print(
                f"{depth:5} {codec:5} {one:6.3f} {two:14.3f} {both:16.3f} {gains[0]:13.2f} {gains[1]:15.2f}"
                f" {gains[0] / gains[1]:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
