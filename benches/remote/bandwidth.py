"""How much of a line's bandwidth reading all branches of a tree reaches, and where the line is idle.

    python bandwidth.py [--index] FILE TREE [ROUNDS] [MILLISECONDS] [MEGABYTES_PER_SECOND] [BRANCHES]

Starts `server.py`. Of each round: the time from before the file is opened until the arrays are there, its share of the bandwidth
(bytes that left the server, by the time and the bandwidth), and the idle times of the line: before the first byte of data, in gaps
between, and after the last. With `--index` every second round opens the file with an index that was made before.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import forthwith

_PORT = 18771


def main():
    indexed = sys.argv[1] == "--index"
    words = sys.argv[1 + indexed :]
    file, tree = Path(words[0]).resolve(), words[1]
    given = [float(word) for word in words[2:5]]
    rounds, latency, bandwidth = [*given, *(5, 50, 100)[len(given) :]]
    names = words[5].split(",") if len(words) > 5 else None
    url = f"http://127.0.0.1:{_PORT}"
    here = Path(__file__).with_name("server.py")
    command = [sys.executable, here, str(file.parent), str(_PORT), str(latency), str(bandwidth)]
    server = subprocess.Popen(command)
    shares = {False: [], True: []}
    try:
        time.sleep(1)
        forthwith.open(f"{url}/{file.name}")[tree].arrays(names, entry_stop=1)
        index = forthwith.index(f"{url}/{file.name}", f"{tempfile.gettempdir()}/") if indexed else None
        for at in range(int(rounds) * (1 + indexed)):
            how = {"index": index} if indexed and at % 2 else {}
            log(url)
            begun, used = time.monotonic(), time.process_time()
            arrays = forthwith.open(f"{url}/{file.name}", **how)[tree].arrays(names)
            ended, used = time.monotonic(), time.process_time() - used
            told = log(url)
            sent, idle = sum(size for _, size in told["sent"]), gaps(told["sent"], begun, bandwidth * 1e6)
            share = sent / (ended - begun) / bandwidth / 1e6
            shares[bool(how)].append(share)
            print(
                f"{len(arrays)} entries in {ended - begun:.3f} s: {share:.3f} of the line; {told['requests']} requests, "
                f"{sent / 1e6:.1f} MB; idle {idle[0]:.3f} s before, {idle[1]:.3f} s between, "
                f"{ended - told['sent'][-1][0]:.3f} s after; {used:.2f} s of processors"
            )
        for with_index, some in shares.items():
            if some:
                print(f"median {statistics.median(some):.3f}{' with an index' if with_index else ''}")
    finally:
        server.terminate()
        server.wait()


def log(url):
    with urllib.request.urlopen(f"{url}/log") as answer:
        return json.load(answer)


def gaps(sent, begun, bandwidth):
    """Idle time before the first MB has left (the metadata come first), and later."""
    at, early, late, total = begun, 0.0, 0.0, 0
    for time_left, size in sent:
        gap = max(0.0, time_left - size / bandwidth - at)
        if total < 1e6:
            early += gap
        else:
            late += gap
        at, total = time_left, total + size
    return early, late


if __name__ == "__main__":
    main()
