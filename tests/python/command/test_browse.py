"""`forthwith browse` and `view` on a terminal, driven by keys; and without one."""

import os
import select
import signal
import subprocess
import sys
import time

import pytest
from conftest import DATA

pty = pytest.importorskip("pty", reason="needs terminals of Unix")

COMMAND = [sys.executable, "-m", "forthwith"]
ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"


class Screen:
    """A command on a terminal of 80 columns and 24 lines."""

    def __init__(self, *args, stdin=None, stdout=None):
        self.mine, terminal = pty.openpty()
        import fcntl  # Unix only, as pty is
        import struct
        import termios

        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))

        def own_terminal():
            os.setsid()
            # A process that ignores it, as below nohup, has no child that ends by it.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        streams = {"stdin": terminal if stdin is None else stdin, "stdout": stdout or terminal, "stderr": terminal}
        environment = os.environ | {"TERM": "xterm", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            [*COMMAND, *args],
            **streams,
            preexec_fn=own_terminal,  # noqa: PLW1509 -- nothing else takes a terminal
            env=environment,
            cwd=DATA,
        )
        os.close(terminal)
        self.text = b""

    def wait_for(self, text, seconds=20.0):
        """Reads what is drawn until it has a text; words, as spaces are not drawn again."""
        end = time.monotonic() + seconds
        while text not in self.text and time.monotonic() < end:
            if select.select([self.mine], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.mine, 1 << 16)
                except OSError:  # the other side is closed
                    break
        assert text in self.text, self.text.decode(errors="replace")[-3000:]

    def keys(self, keys):
        self.text = b""
        os.write(self.mine, keys)

    def end(self):
        """The exit code, with the terminal as it was before."""
        self.wait_for(LEFT)
        return self.process.wait(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)
        if self.process.stdout:
            self.process.stdout.close()
        if self.mine is not None:
            os.close(self.mine)


def test_a_tree_values_and_a_histogram_are_shown():
    with Screen("browse", "zmumu.root") as screen:
        screen.wait_for(b"simulated")
        assert ENTERED in screen.text
        screen.keys(b"/MET_pt\r")
        screen.wait_for(b"kernel")
        screen.keys(b"p")
        screen.wait_for(b"3,600")
        screen.keys(b"\x1b")
        time.sleep(0.2)
        screen.keys(b"q")
        assert screen.end() == 0


def test_marked_rows_go_to_standard_output_though_it_is_a_pipe():
    with Screen("view", "zmumu.root:events", "-c", "event", stdout=subprocess.PIPE) as screen:
        screen.wait_for(b"5000000037")
        screen.keys(b"  q")
        assert screen.process.stdout.read() == b'{"event":5000000000}\n{"event":5000000037}\n'
        assert screen.end() == 0


def test_a_table_comes_through_a_pipe():
    table = subprocess.Popen(["cat", DATA / "parquet/plain.parquet"], stdout=subprocess.PIPE)
    with Screen("view", "-", stdin=table.stdout) as screen:
        table.stdout.close()
        screen.wait_for(b"rows")
        screen.keys(b"q")
        assert screen.end() == 0
        assert table.wait() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_the_terminal_is_restored_when_a_signal_ends_the_command(how):
    with Screen("browse", "zmumu.root") as screen:
        screen.wait_for(b"simulated")
        screen.process.send_signal(how)
        assert screen.end() == 130


def test_the_command_ends_when_its_terminal_is_closed():
    with Screen("browse", "zmumu.root") as screen:
        screen.wait_for(b"simulated")
        os.close(screen.mine)
        screen.mine = None
        assert screen.process.wait(20) != 0


@pytest.mark.parametrize(("verb", "instead"), [("browse", "forthwith ls"), ("view", "forthwith head")])
def test_without_a_terminal_other_commands_are_named(verb, instead):
    said = subprocess.run(
        [*COMMAND, verb, "zmumu.root"], capture_output=True, text=True, cwd=DATA, start_new_session=True, check=False
    )
    assert (said.returncode, said.stdout) == (2, ""), said.stderr
    assert f"{verb} draws on a terminal, and there is none: {instead}" in said.stderr
