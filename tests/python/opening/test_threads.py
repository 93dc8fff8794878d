"""Files and readers that threads share. Where Python has no global lock they run at once, and we bring none back."""

import os
import subprocess
import sys
import sysconfig
import threading

import awkward as ak
import pytest
from conftest import data

import forthwith


def together(work, threads=4):
    """Runs work in threads that begin at the same time; what each returned."""
    results, barrier = [None] * threads, threading.Barrier(threads)

    def run(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            results[number] = error

    all_threads = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def test_no_global_lock_comes_back():
    ours = "forthwith, forthwith.forth, forthwith.avro, forthwith.parquet"
    code = f"import sys, {ours}; print(getattr(sys, '_is_gil_enabled', lambda: True)())"
    said = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    assert said.stdout.strip() == str(not sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.parametrize("name", ["zmumu.root", "objects.root", "containers.root", "vectors.root"])
def test_one_file_in_many_threads(name):
    with forthwith.open(data(name)) as file:
        names = [key for key, kind in file.classnames().items() if kind == "TTree"]
        expected = [file[key].arrays() for key in names]
    with forthwith.open(data(name)) as file:

        def work(number):
            # The first to come opens what all use.
            return [file[key].arrays(threads=1 + number % 2) for key in (names if number % 2 else names[::-1])]

        for number, arrays in enumerate(together(work)):
            for key, array in zip(names if number % 2 else names[::-1], arrays, strict=True):
                assert ak.array_equal(array, expected[names.index(key)], equal_nan=True), key


def test_a_file_that_is_closed_meanwhile():
    for _ in range(20):
        file = forthwith.open(data("zmumu.root"))
        tree = file["events"]
        expected = tree["MET_pt"].array()

        def work(number, file=file, tree=tree, expected=expected):
            if number == 0:
                file.close()
                return True
            try:
                return ak.array_equal(tree["MET_pt"].array(), expected)
            except (ValueError, OSError, forthwith.ForthwithError):
                return True

        assert all(together(work))


def test_steps_of_one_iteration():
    with forthwith.open(data("zmumu.root")) as file:
        steps = file["events"].iterate(["MET_pt"], step_size=100)
        lock = threading.Lock()

        def work(_):
            mine = []
            while True:
                with lock:
                    step = next(steps, None)
                if step is None:
                    return mine
                mine.append(len(step))

        taken = [step for mine in together(work) for step in mine]
        assert sum(taken) == file["events"].num_entries


FORKING = """
import os, signal, sys, threading, warnings

warnings.simplefilter("ignore")
going = True

def forked(number, work, inside):
    \"\"\"How many of so many children failed that were forked while threads worked.\"\"\"
    global going
    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    lost = 0
    for fork in range(number):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            inside(fork)
            os._exit(0)
        lost += os.waitpid(child, 0)[1] != 0
    going = False
    for thread in threads:
        thread.join()
    return lost
"""

MACHINES = """
from forthwith.forth import ForthMachine64

def run(number, tier):
    source = f"input data output out int64 {number} begin data i-> stack out <- stack again"
    ForthMachine64(source, tier=tier).run({"data": b"1234"}, raise_read_beyond=False)

def work(thread):
    number = 0
    while going:
        number += 1
        run(f"{thread} {number}", number % 3)

def inside(fork):
    run("1 1", fork % 3)
    run(f"{fork} 7777", fork % 3)

print(forked(40, work, inside))
"""

READING = """
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
import forthwith

path = sys.argv[1]
values = np.arange(200_000.0)
pq.write_table(pa.table({"x": values, "y": values[::-1]}), path)

def read():
    with forthwith.open(path) as table:
        arrays = table.arrays(library="np")
    # Memory that others left is overwritten, and no two of them share any.
    assert (arrays["x"] == values).all() and (arrays["y"] == values[::-1]).all()

def work(thread):
    while going:
        read()

def inside(fork):
    for _ in range(3):
        read()

# Modules are imported before: a thread that imports one while its process is forked leaves it locked.
read()
print(forked(20, work, inside))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("what", [MACHINES, READING], ids=["machines", "files that share memory"])
def test_a_process_that_is_forked_meanwhile(what, tmp_path):
    command = [sys.executable, "-c", FORKING + what, str(tmp_path / "some.parquet")]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    assert said.stdout.split() == ["0"]
