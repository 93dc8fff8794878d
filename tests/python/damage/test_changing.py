"""Files that change after they were opened: what is read is right or an error, and no signal ends the process.

Each case runs in a process of its own, which says which step it is at before it takes it.
"""

import json
import subprocess
import sys
import textwrap

import pytest
from conftest import DATA, TESTS

import forthwith

#: Steps of a process: files of one kind, cut to some lengths at some moments, read in every way.
CUT = """
    import itertools, json, os, shutil, sys, warnings
    warnings.simplefilter("ignore")
    import forthwith

    folder, *paths = sys.argv[1:]
    copy = os.path.join(folder, "copy" + os.path.splitext(paths[0])[1])

    def tables(file):
        if isinstance(file, forthwith.Tree):
            return [file]
        return [file[name] for name in file.keys(filter_classname="TTree")]

    def look(tables):
        for table in tables:
            for branch in table.itervalues(recursive=True):
                branch.interpretation.decoder, branch.num_baskets

    def read(tables, threads):
        done = []
        for table in tables:
            if table.num_entries:
                for batch in itertools.islice(table.iterate(step_size=max(1, table.num_entries // 3), library="pa",
                                              threads=threads), 5):
                    done.append(len(batch))
            for branch in table.itervalues(recursive=True):
                if branch.has_data and branch.interpretation.decoder:
                    array = branch.array(library="pa", threads=threads)
                    done.append(hash(str(array)))
        return done

    def opened(source):
        if source != "object":
            return forthwith.open(copy, source=source)
        return forthwith.open(open(copy, "rb"))

    for path in paths:
        size = os.path.getsize(path)
        shutil.copyfile(path, copy)
        truth = read(tables(forthwith.open(copy)), 1)
        for source, stage, cut in itertools.product(
            ("auto", "map", "pread", "object"), ("opened", "listed", "looked"), (0, 3, 100, size // 2, size - 1)
        ):
            shutil.copyfile(path, copy)
            print(json.dumps([os.path.basename(path), source, stage, cut]), end=" ", flush=True)
            file = opened(source)
            if stage != "opened":
                found = tables(file)
            if stage == "looked":
                look(found)
            os.truncate(copy, cut)
            try:
                if stage == "opened":
                    found = tables(file)
                outcome = read(found, 1 + cut % 2)
                outcome = "the same" if outcome == truth else "something else"
            except forthwith.ForthwithError as error:
                outcome = "an error"
            print(json.dumps(outcome), flush=True)
"""

#: The same file, cut and made whole again by one thread while others read it.
WHILE = """
    import json, os, random, sys, threading, time, warnings
    warnings.simplefilter("ignore")
    import forthwith

    path, source, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    whole = open(path, "rb").read()
    truth = forthwith.open(path, source="pread").arrays(library="pa")
    stop = False
    write = os.open(path, os.O_WRONLY)

    def change():
        random.seed(7)
        while not stop:
            cut = random.randrange(len(whole))
            os.truncate(path, cut)
            # Longer than a request takes: bytes that the system zeroes while it copies them are known by the size.
            time.sleep(0.003 + random.random() / 500)
            # From first to last, so that what is there is always the beginning of the file.
            while cut < len(whole):
                cut += os.pwrite(write, whole[cut:cut + 1_000_000], cut)
            time.sleep(random.random() / 50)

    outcomes = {"the same": 0, "an error": 0, "something else": 0}

    def read(threads):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                with forthwith.open(path, source=source) as file:
                    for _ in range(3):
                        same = file.arrays(library="pa", threads=threads).equals(truth)
                        outcomes["the same" if same else "something else"] += 1
            except forthwith.ForthwithError:
                outcomes["an error"] += 1

    changing = threading.Thread(target=change)
    readers = [threading.Thread(target=read, args=(threads,)) for threads in (1, 3)]
    for thread in (changing, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    stop = True
    changing.join()
    print(json.dumps(outcomes))
"""


def run(code, *arguments, expected=0):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=TESTS.parent, timeout=300)
    assert done.returncode == expected, (done.stdout.splitlines()[-1:], done.stderr[-2000:])
    return done


FILES = {
    # Uncompressed, compressed, and with baskets in the tree's own record.
    "root": ["codec-none.root", "codec-zlib.root", "trees.root", "keys.root", "vectors.root"],
    "avro": ["avro/types.avro", "avro/codec-deflate.avro", "avro/nested.avro"],
    "parquet": ["parquet/*.parquet"],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_a_file_cut_after_it_was_opened(kind, tmp_path):
    pytest.importorskip("pyarrow")
    paths = [path for name in FILES[kind] for path in sorted(DATA.glob(name))[:3]]
    assert paths
    done = run(CUT, tmp_path, *paths)
    outcomes = {"the same": 0, "an error": 0}
    for line in done.stdout.splitlines():
        assert not line.endswith('"something else"'), line
        outcomes[json.loads(line[line.index("]") + 1 :])] += 1
    assert outcomes["an error"] > len(paths) * 20, outcomes
    if kind == "avro":
        # Nothing in such a file says how long it is; its size at opening does.
        assert outcomes["the same"] == 0


def numbers(rows):
    np = pytest.importorskip("numpy")
    random = np.random.default_rng(1)
    return {name: random.normal(size=rows) for name in "abcd"}


@pytest.mark.slow
@pytest.mark.parametrize("source", ["auto", "map", "pread"])
@pytest.mark.parametrize("ending", ["avro", "parquet"])
def test_a_file_cut_and_mended_while_threads_read_it(ending, source, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"numbers.{ending}"
    if ending == "avro":
        forthwith.write_avro(path, numbers(150_000), codec="null")
    else:
        forthwith.write_parquet(path, numbers(150_000), codec="none")
    outcomes = json.loads(run(WHILE, path, source, 2).stdout)
    assert outcomes.pop("something else") == 0
    assert sum(outcomes.values()) > 3, outcomes


BOTH = """
    import faulthandler, os, shutil, signal, sys, warnings
    warnings.simplefilter("ignore")
    order, path, copy = sys.argv[1:]
    if order == "before":
        faulthandler.enable()
    import forthwith
    shutil.copyfile(path, copy)
    batch = next(forthwith.open(copy, source="map")["events"]["i"].bulk(raw=True))
    assert batch.view
    if order == "after":
        faulthandler.enable()
    elif order == "between":
        faulthandler.disable()
    os.truncate(copy, 0)
    print(int(batch.payload.sum()), flush=True)
    shutil.copyfile(path, copy)
    print(len(forthwith.open(copy)["events"]["i"].array(library="np")), flush=True)
    if order == "foreign":
        import mmap
        with open(copy, "r+b") as file:
            view = mmap.mmap(file.fileno(), 0)
            os.truncate(copy, 0)
            view[5000]
    elif order != "after":
        os.kill(os.getpid(), signal.SIGBUS)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a number of a signal, and what Linux does")
@pytest.mark.parametrize("order", ["before", "after", "between", "foreign"])
def test_the_handler_lives_with_others(order, tmp_path):
    pytest.importorskip("numpy")
    done = run(BOTH, order, DATA / "codec-none.root", tmp_path / "copy.root", expected=0 if order == "after" else -7)
    lines = done.stdout.split()
    assert lines[0] == "0"
    assert int(lines[1]) > 0
    assert ("Fatal Python error: Bus error" in done.stderr) == (order in ("before", "after"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the system as Linux has it")
def test_the_handler_is_installed_by_the_first_map():
    code = """
        import signal, sys, warnings
        warnings.simplefilter("ignore")
        import forthwith

        def caught():
            with open("/proc/self/status") as status:
                mask = next(line for line in status if line.startswith("SigCgt"))
            return int(mask.split()[1], 16) >> (signal.SIGBUS - 1) & 1

        file = forthwith.open(sys.argv[1], source="pread")
        assert not caught()
        file = forthwith.open(sys.argv[1])
        assert caught()
    """
    run(code, DATA / "codec-none.root")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the system as Linux has it")
@pytest.mark.parametrize("source", ["auto", "map"])
def test_the_handler_is_there_again_after_another_took_it_away(source, tmp_path):
    """As `faulthandler.disable()` does: it puts back what was there before it, whatever came since."""
    code = """
        import faulthandler, os, shutil, signal, sys, warnings
        warnings.simplefilter("ignore")
        import forthwith

        def caught():
            with open("/proc/self/status") as status:
                mask = next(line for line in status if line.startswith("SigCgt"))
            return int(mask.split()[1], 16) >> (signal.SIGBUS - 1) & 1

        source, path, copy = sys.argv[1:]
        faulthandler.enable()
        shutil.copyfile(path, copy)
        tree = forthwith.open(copy, source=source)["events"]
        faulthandler.disable()
        assert not caught()
        tree["i"].array(library="np")
        assert caught()
        batch = next(tree["i"].bulk(raw=True))
        os.truncate(copy, 0)
        assert not batch.view or int(batch.payload.sum()) == 0
        try:
            tree["i"].array(library="np")
        except forthwith.ForthwithError as error:
            assert "shrank" in str(error), error
        else:
            raise AssertionError("a file that is gone was read")
    """
    pytest.importorskip("numpy")
    run(code, source, DATA / "codec-none.root", tmp_path / "copy.root")


@pytest.mark.parametrize("kind", ["auto", "map", "pread", "object"])
@pytest.mark.parametrize("name", ["codec-none.root", "avro/nested.avro", "parquet/plain.parquet"])
def test_a_file_that_was_cut_is_told_in_the_same_words_whatever_its_source(name, kind, tmp_path):
    path = tmp_path / "copy"
    for length in (0, 1000):
        path.write_bytes((DATA / name).read_bytes())
        with open(path, "rb", buffering=0) as handle:
            file = forthwith.open(handle) if kind == "object" else forthwith.open(path, source=kind)
            table = file if isinstance(file, forthwith.Tree) else file["events"]
            column = table[table.keys()[-1]]
            assert table.num_entries
            with open(path, "r+b") as cut:
                cut.truncate(length)
            with pytest.raises(forthwith.ForthwithError, match="shrank from"):
                column.array(library="np")
