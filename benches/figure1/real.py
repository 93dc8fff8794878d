"""real.py FILE REPS THREADS [BRANCH...]: whole trees, or some branches, of a NanoAOD-like file."""

import json
import sys
import time

import forthwith


def main():
    path, reps, threads, *names = sys.argv[1:]
    times = []
    for _ in range(int(reps)):
        start = time.perf_counter()
        with forthwith.open(path, threads=int(threads), pool=0) as f:
            arrays = f["Events"].arrays(names or None, how=dict)
        times.append(round(time.perf_counter() - start, 6))
        total, count = sum(a.nbytes for a in arrays.values()), len(arrays)
        del arrays
    print("RESULT", json.dumps({"times": times, "checksum": f"{count} arrays {total} bytes"}))


main()
