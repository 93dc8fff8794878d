"""Measures what a person waits for in ``forthwith browse``: the first screen, a key of the filter, a histogram.

``python benches/browse/measure.py [FOLDER]`` makes a ROOT file with 10 000 branches and one with 10^8 floats in FOLDER (a
temporary one by default), browses them in a pseudo-terminal of 200 by 60 cells with the ``forthwith`` beside this Python,
and prints a table. Times are the medians of nine rounds, from the key (or the start of the process) to the last byte that
the terminal gets before the text that is waited for is complete. Beside the first screen stand the times of ``python -c
pass`` and of ``forthwith --version``, which are parts of it.
"""

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

import numpy as np

ROUNDS = 9
BRANCHES = 10_000
FLOATS = 100_000_000
COMMAND = os.path.join(os.path.dirname(sys.executable), "forthwith")


class Browser:
    """A browser in a pseudo-terminal."""

    def __init__(self, *arguments):
        self.began = time.perf_counter()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
            os.environ["TERM"] = "xterm-256color"
            os.execv(COMMAND, [COMMAND, "browse", *arguments])

    def press(self, keys):
        """Types; `until` counts from now on."""
        self.began = time.perf_counter()
        os.write(self.terminal, keys.encode())

    def until(self, text, limit=60.0):
        """Seconds until the terminal has been sent a text."""
        seen, wanted = b"", text.encode()
        while wanted not in seen:
            left = limit - (time.perf_counter() - self.began)
            if not select.select([self.terminal], [], [], max(0.0, left))[0]:
                raise TimeoutError(f"{text!r} was not shown: {seen[-500:]!r}")
            seen += os.read(self.terminal, 1 << 16)
        return time.perf_counter() - self.began

    def drain(self, quiet=0.1):
        """Reads until nothing is sent for a while; the seconds to the last byte."""
        last = None
        while select.select([self.terminal], [], [], quiet)[0]:
            os.read(self.terminal, 1 << 16)
            last = time.perf_counter() - self.began
        return last

    def close(self):
        """Ends it."""
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def written(folder):
    """The two files."""
    import forthwith

    wide, long = os.path.join(folder, "wide.root"), os.path.join(folder, "long.root")
    if not os.path.exists(wide):
        with forthwith.recreate(wide) as file:
            names = [f"Analysis{at % 7}_Jets{at % 97}AuxDyn_pt{at}" for at in range(BRANCHES)]
            file.mktree("events", {name: np.zeros(2, "f4") for name in names})
    if not os.path.exists(long):
        values = np.random.default_rng(1).normal(size=FLOATS // 10).astype("f4")
        with forthwith.recreate(long, compression=None) as file:
            tree = file.mktree("events", {"x": "float32"})
            for _ in range(10):
                tree.extend({"x": values})
    return wide, long


def median(measure):
    """The median of all rounds, in milliseconds."""
    return 1e3 * statistics.median(measure() for _ in range(ROUNDS))


def process(*command):
    """Seconds that a process takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def started(path, text):
    """Seconds to the first screen."""
    browser = Browser(path)
    taken = browser.until(text)
    browser.close()
    return taken


def keys(path, letters):
    """Seconds of the slowest key of a filter, to the last byte of the screen that it changes."""
    browser = Browser(path)
    browser.until("Analysis0")
    browser.drain()
    browser.press("/")
    browser.drain()
    slowest = 0.0
    for letter in letters:
        browser.press(letter)
        slowest = max(slowest, browser.drain() or 0.0)
    browser.close()
    return slowest


def histogram(path):
    """Seconds to the first histogram, and to the exact one."""
    browser = Browser(path)
    browser.until("x")
    browser.drain()
    browser.press("\x1b[B")  # the first column
    browser.drain()
    browser.press("p")
    first = browser.until("█")
    whole = browser.drain(quiet=1.0) or first
    browser.close()
    return first, whole


def main(folder):
    wide, long = written(folder)
    print("| what | ms |\n| --- | ---: |")
    print(f"| `python -c pass` | {median(lambda: process(sys.executable, '-c', 'pass')):.1f} |")
    print(f"| `forthwith --version` | {median(lambda: process(COMMAND, '--version')):.1f} |")
    print(f"| first screen, one column of 10^8 floats | {median(lambda: started(long, 'float')):.1f} |", flush=True)
    print(f"| first screen, 10 000 branches | {median(lambda: started(wide, 'Analysis0')):.1f} |", flush=True)
    for letters in ("analysisjets9pt77", "Analysis?_*pt99*"):
        print(f"| slowest key of the filter `{letters}` | {median(lambda: keys(wide, letters)):.1f} |", flush=True)
    both = [histogram(long) for _ in range(3)]
    print(f"| first histogram of 10^8 floats | {1e3 * statistics.median(one for one, _ in both):.1f} |")
    print(f"| exact histogram of 10^8 floats | {1e3 * statistics.median(one for _, one in both):.1f} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as made:
            main(made)
