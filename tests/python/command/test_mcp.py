"""`forthwith mcp`: a session over pipes, files that it must not read, and messages that are none."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import data

import forthwith


class Session:
    def __init__(self, *folders):
        command = [sys.executable, "-m", "forthwith", "mcp", *map(str, folders)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def send(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, params=None):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method}
        self.send(message if params is None else message | {"params": params})
        answer = self.receive()
        assert answer["id"] == self.number
        return answer

    def call(self, tool, **arguments):
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return answer["isError"], answer["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(20) == 0
        self.process.stdout.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    top = tmp_path_factory.mktemp("mcp")
    served, secret = top / "served", top / "secret"
    (served / "below").mkdir(parents=True)
    secret.mkdir()
    for place in (served / "below" / "events.root", secret / "other.root"):
        with forthwith.recreate(place) as file:
            file["tree"] = {"x": np.arange(5000), "y": np.arange(5000) / 4}
            file["h"] = np.histogram(np.arange(50.0), bins=5)
    (served / "link.root").symlink_to(secret / "other.root")
    (served / "loop").symlink_to(served)
    return served


@pytest.fixture
def session(folder):
    session = Session(folder)
    yield session
    session.end()


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18"), (7, "2025-06-18")],
)
def test_a_session_begins_with_a_version(session, asked, given):
    answer = session.ask("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t"}})
    assert answer["result"]["protocolVersion"] == given
    assert answer["result"]["serverInfo"]["name"] == "forthwith"
    session.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert session.ask("ping")["result"] == {}


def test_tools_answer(session, folder):
    tools = session.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["list", "schema", "stats", "head", "query", "plot"]
    assert "events.root" in session.call("list")[1]
    assert "link.root" not in session.call("list")[1]
    path = "below/events.root"
    assert "tree" in session.call("list", path=path)[1]
    assert session.call("schema", path=path, columns=["x"]) == session.call(
        "schema", path=str(folder / path), columns=["x"]
    )
    assert "int64" in session.call("schema", path=f"{path}:tree")[1]
    assert "4,999" in session.call("stats", path=path, columns=["x"])[1].replace("4999", "4,999")
    is_error, text = session.call("head", path=path, columns=["x", "y"], limit=3)
    assert not is_error
    assert [json.loads(line) for line in text.splitlines()] == [{"x": at, "y": at / 4} for at in range(3)]
    is_error, text = session.call("query", path=path, columns=["x", "z=x*2"], cut="x > 4000", limit=2)
    assert [json.loads(line) for line in text.splitlines()] == [{"x": 4001, "z": 8002}, {"x": 4002, "z": 8004}]
    assert "█" in session.call("plot", path=path, column="y")[1]
    assert session.call("plot", path=f"{path}:h", format="svg")[1].startswith("<svg")
    assert session.call("plot", path=path, column="x", cut="x > 9", format="svg")[1].endswith("</svg>")


def test_answers_are_bounded(session):
    is_error, text = session.call(
        "query", path="below/events.root", columns=["x", *(f"c{n}=x+{n}" for n in range(90))], limit=1000
    )
    assert not is_error
    assert len(text) < 51_000
    assert "cut after" in text


@pytest.mark.parametrize(
    "path",
    [
        "../secret/other.root",
        "below/../../secret/other.root",
        "link.root",
        "loop/below/events.root",
        "-",
        "",
        "/etc/passwd",
        "https://example.org/x.root",
        "below/none.root",
        "file:///etc/passwd",
        "below/*.root",
        "\x00",
    ],
)
def test_other_files_are_refused(session, path, folder):
    for tool in ("head", "schema", "list"):
        is_error, text = session.call(tool, path=path)
        if tool == "list" and path == "":
            continue
        assert is_error, text
        assert "root:" not in text
    assert session.call("head", path=str(folder.parent / "secret" / "other.root"))[0]


def test_faults_of_calls_are_answers(session):
    def code(**params):
        return session.ask("tools/call", params)["error"]["code"]

    assert code(name="remove", arguments={}) == -32602
    assert code(arguments={}) == -32602
    assert code(name="head", arguments=[]) == -32602
    assert code(name="head", arguments={"path": 7}) == -32602
    assert code(name="head", arguments={"path": "x", "limit": 0}) == -32602
    assert code(name="head", arguments={"path": "x", "limit": 10**9}) == -32602
    assert code(name="head", arguments={"path": "x", "force": True}) == -32602
    assert code(name="head", arguments={}) == -32602
    is_error, text = session.call("query", path="below/events.root", cut="nonsense > 1")
    assert is_error
    assert "nonsense" in text
    assert session.call("plot", path="below/events.root", column="x", format="png")[0]
    assert session.call("head", path="below")[0]
    # Options of the command are no columns.
    assert session.call("query", path="below/events.root", columns=["--output"])[0]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not JSON", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}', -32601),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b"[" * 100_000, -32700),
        (b'"' + b"x" * (3 << 20) + b'"', -32600),
    ],
)
def test_messages_that_are_none(session, line, code):
    session.send(line)
    assert session.receive()["error"]["code"] == code
    assert session.ask("ping")["result"] == {}


def test_random_messages_are_answered(session):
    dice = random.Random("messages")
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": {}}})
    for _ in range(200):
        line = bytearray(whole.encode())
        for _ in range(dice.randint(1, 3)):
            line[dice.randrange(len(line))] = dice.randrange(32, 127)
        session.send(bytes(line))
    session.send({"jsonrpc": "2.0", "id": "end", "method": "ping"})
    while session.receive()["id"] != "end":
        pass


def test_a_folder_that_is_none(tmp_path):
    said = subprocess.run(
        [sys.executable, "-m", "forthwith", "mcp", str(tmp_path / "none")],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert said.returncode == 3
    assert "none" in said.stderr


def test_what_never_answers_is_refused(folder):
    """Pipes are no files, and a call that ends in any way is over."""
    os.mkfifo(folder / "pipe.root")
    session = Session(folder)
    try:
        for _ in range(4):
            is_error, text = session.call("head", path="pipe.root")
            assert is_error
            assert "neither a file nor a folder" in text
        is_error, text = session.call("schema", path=":" * 20_000)
        assert is_error
        assert "bytes" in text
        assert session.call("head", path="below/events.root:tree", limit=1)[0] is False
    finally:
        session.end()
        (folder / "pipe.root").unlink()


def test_branches_in_other_files_do_not_lead_out_of_the_folders(tmp_path):
    """One branch of the tree names another file for its baskets."""
    served, elsewhere = tmp_path / "served", tmp_path / "elsewhere"
    for folder in (served, elsewhere):
        folder.mkdir()
    shutil.copy(data("layout.root"), served)
    baskets = shutil.copy(data("layout-branch.root"), served)
    session = Session(served)
    try:
        calls = [(tool, {"path": "layout.root:elsewhere", "columns": ["there"]}) for tool in ("head", "stats", "query")]
        assert [session.call(tool, **asked)[0] for tool, asked in calls] == [False] * 3
        shutil.move(baskets, elsewhere)
        (served / "layout-branch.root").symlink_to(elsewhere / "layout-branch.root")
        for tool, asked in calls:
            is_error, text = session.call(tool, **asked)
            assert is_error
            assert "layout-branch.root: " in text
            assert "-1" not in text.replace(str(tmp_path), "")
    finally:
        session.end()


def test_a_late_call_is_an_error_and_its_work_ends(tmp_path):
    with forthwith.recreate(tmp_path / "many.root", compression=None) as file:
        file["tree"] = {"x": np.random.default_rng(1).random(16_000_000, dtype=np.float32)}
    session = Session(tmp_path, "--limit", "1")
    # A minute of work for an optimised build: an expression is left as soon as its time is over.
    slow = " + ".join("sin(" * 25 + f"x * {at}" + ")" * 25 for at in range(60))
    try:
        is_error, text = session.call("query", path="many.root", cut=f"{slow} > 200")
        assert is_error
        assert "no answer within 1 s" in text
        deadline = time.monotonic() + 5
        while busy(session.process.pid):
            assert time.monotonic() < deadline, "the call goes on"
        assert session.call("head", path="many.root", limit=1)[0] is False
    finally:
        session.end()


def busy(process):
    """Whether a process works: its processor time after a moment."""
    stat = pathlib.Path(f"/proc/{process}/stat")
    if not stat.exists():
        pytest.skip("there is no /proc")
    used = [int(word) for word in stat.read_text().rpartition(")")[2].split()[11:13]]
    time.sleep(0.1)
    return used != [int(word) for word in stat.read_text().rpartition(")")[2].split()[11:13]]


def test_options_for_opening_count_for_each_call(tmp_path):
    (tmp_path / "semicolons.csv").write_text("a;b\n1;2\n")
    session = Session("--open", "separator=;", tmp_path)
    assert session.call("head", path="semicolons.csv") == (False, '{"a":1,"b":2}')
    session.end()
