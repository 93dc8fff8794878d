"""Screens of `forthwith browse` and `view` in tmux, which knows how wide characters are and where they stand."""

import itertools
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import DATA

import forthwith

TMUX = shutil.which("tmux")
pytestmark = [
    # Screens are waited for.
    pytest.mark.alone,
    pytest.mark.skipif(TMUX is None, reason="tmux is not installed (apt-get install tmux)"),
]

SIZES = [(80, 24), (200, 60)]
# Each server has a socket of its own.
NUMBERS = itertools.count()


class Window:
    """A command in a window of tmux, with a server of its own."""

    def __init__(self, folder, size, *args, environment=None):
        self.socket = str(folder / f"tmux{next(NUMBERS)}")
        self.width, self.height = size
        variables = {"LC_ALL": "C.UTF-8"} | (environment or {})
        given = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), *given, "cat")
        self.tmux("set-option", "-g", "status", "off")
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        command = [sys.executable, "-m", "forthwith", *map(str, args)]
        self.tmux("respawn-pane", "-k", "-c", str(DATA), *given, *command)

    def tmux(self, *args):
        run = subprocess.run(
            [TMUX, "-u", "-S", self.socket, *args], capture_output=True, text=True, check=False, encoding="utf-8"
        )
        assert run.returncode == 0, (args, run.stderr)
        return run.stdout

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def screen(self, *more):
        return self.tmux("capture-pane", "-p", *more)

    def wait_for(self, *texts, seconds=30.0):
        """The screen, once it has all these texts and stays as it is."""
        end, before = time.monotonic() + seconds, None
        while time.monotonic() < end:
            shown = self.screen()
            if shown == before and all(text in shown for text in texts):
                return shown
            before = shown
            time.sleep(0.1)
        raise AssertionError(f"{texts} not in\n{self.screen()}")

    def exit_code(self, seconds=20.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # The status comes a moment after the end.
            is_dead, status = (
                self.tmux("display-message", "-p", "#{pane_dead} #{pane_dead_status}").rstrip("\n").split(" ")
            )
            if is_dead == "1" and status:
                return int(status)
            if is_dead == "1":
                # tmux may miss that a child ended. It looks for all of them when a job of its own does.
                self.tmux("run-shell", "true")
            time.sleep(0.05)
        raise AssertionError(self.screen())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([TMUX, "-S", self.socket, "kill-server"], capture_output=True, check=False)


def divider(screen):
    """The column of the line between the tree and what is beside it, which is the same in all rows."""
    import unicodedata

    def width(text):
        wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
        return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)

    places = {width(line.partition("│")[0]) for line in screen.splitlines() if "│" in line}
    assert len(places) == 1, screen
    return places.pop()


@pytest.mark.parametrize("size", SIZES)
def test_a_file_fills_the_screen(size, tmp_path):
    with Window(tmp_path, size, "browse", "zmumu.root") as window:
        shown = window.wait_for("events", "simulated collisions", "? help")
        lines = shown.rstrip("\n").split("\n")
        assert len(lines) == size[1]
        assert "ROOT, 395 kB" in lines[0]
        assert lines[0].rstrip().endswith("kB")
        assert len(lines[0].rstrip()) == size[0]
        assert "q quit" in lines[-1]
        assert divider(shown) in range(30, size[0] - 30)
        window.keys("/", "M", "E", "T", "_", "p", "t", "Enter")
        window.wait_for("kernel")
        window.keys("p")
        window.wait_for("3,600 entries", "┤")
        window.keys("Escape")
        window.wait_for("q quit")
        window.keys("q")
        assert window.exit_code() == 0


@pytest.mark.parametrize("size", SIZES)
def test_names_of_all_kinds_stay_in_their_columns(size, tmp_path):
    names = ["広い" * 30, "e\u0301" * 40, "\u202eleft", "two\nlines", "\x1b[31mred", "عربي", "👩\u200d🔬"]
    names += ["x" * 300, "tab\tbed"]
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "names.arrow"
    table = pa.table({name: np.arange(5) for name in names})
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with Window(tmp_path, size, "browse", path) as window:
        shown = window.wait_for("Int64")
        divider(shown)
        assert len(shown.rstrip("\n").split("\n")) == size[1]
        assert "\u202e" not in shown
        assert "\\n" in shown
        window.keys("Enter")
        shown = window.wait_for("5 rows")
        assert "\u202e" not in shown
        window.keys("q")
        assert window.exit_code() == 0


def test_empty_tables_and_files_are_shown(tmp_path):
    empty, none, lines = tmp_path / "empty.root", tmp_path / "none.root", tmp_path / "empty.csv"
    with forthwith.recreate(empty) as file:
        file.mktree("t", {"x": "int64"})
    forthwith.recreate(none).close()
    lines.write_text("x,y\n")
    with Window(tmp_path, (80, 24), "browse", empty) as window:
        window.wait_for("0 entries")
        window.keys("Enter")
        window.wait_for("0 rows")
        window.keys("p")
        window.wait_for("x")
        window.keys("Escape", "Escape", "q")
    with Window(tmp_path, (80, 24), "browse", none) as window:
        window.wait_for("q quit")
        window.keys("Down", "Enter", "p", "Space", "q")
        assert window.exit_code() == 0
    with Window(tmp_path, (80, 24), "view", lines) as window:
        window.wait_for("0 rows")
        window.keys("q")
        assert window.exit_code() == 0
    (tmp_path / "nothing.root").touch()
    with Window(tmp_path, (80, 24), "browse", tmp_path / "nothing.root") as window:
        assert window.exit_code() == 1
        assert "nothing.root" in window.screen()


def test_without_colour_there_is_none(tmp_path):
    def colours(*args, environment=None):
        with Window(tmp_path, (80, 24), *args, "browse", "zmumu.root", environment=environment) as window:
            window.wait_for("simulated collisions")
            window.keys("Down", "Down")
            window.wait_for("run")
            codes = [code.partition("m")[0] for code in window.screen("-e").split("\x1b[")[1:]]
        return [
            part
            for code in codes
            for part in code.split(";")
            if part and int(part) in {*range(30, 50), *range(90, 108)}
        ]

    assert colours("--color", "always")
    assert {*colours("--color", "never")} <= {"39", "49"}
    assert {*colours(environment={"NO_COLOR": "1"})} <= {"39", "49"}


def test_damage_is_named_where_values_would_be(tmp_path):
    raw = bytearray((DATA / "zmumu.root").read_bytes())
    at = raw.find(b"\x07TBasket\x06MET_pt")
    assert at > 0
    raw[at + 60 : at + 90] = bytes(30)
    path = tmp_path / "damaged.root"
    path.write_bytes(raw)
    with Window(tmp_path, (80, 24), "browse", f"{path}:events/MET_pt") as window:
        window.wait_for("MET_pt")
        window.keys("Enter")
        window.wait_for("corrupt")
        window.keys("p")
        window.wait_for("corrupt")
        window.keys("Escape", "Escape", "q")
        assert window.exit_code() == 0


def test_the_window_may_become_any_size(tmp_path):
    with Window(tmp_path, (80, 24), "browse", "zmumu.root") as window:
        window.wait_for("simulated collisions")
        for width, height in ((20, 5), (2, 2), (1, 1), (300, 80), (80, 24)):
            window.tmux("resize-window", "-x", str(width), "-y", str(height))
            time.sleep(0.3)
        shown = window.wait_for("simulated collisions", "q quit")
        assert divider(shown) > 20
        window.keys("q")
        assert window.exit_code() == 0


def test_a_file_that_changes_is_opened_again(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x\n1\n2\n3\n")
    with Window(tmp_path, (80, 24), "view", path) as window:
        window.wait_for("3 rows")
        path.write_text("x,y\n" + "7,8\n" * 500)
        window.keys("G")
        window.wait_for("it again")
        window.keys("q")
        assert window.exit_code() == 0
    os.remove(path)
