"""Web servers that refuse several ranges, answer them wrongly, or stop answering: values, requests and time."""

import http.server
import re
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import forthwith

COLUMNS = [f"x{number}" for number in range(20)]


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    """A file of many small baskets, and the values of each of its columns."""
    values = np.random.default_rng(0).normal(size=20_000)
    path = tmp_path_factory.mktemp("servers") / "f.root"
    with forthwith.recreate(path, compression=None) as file:
        file.mktree("t", dict.fromkeys(COLUMNS, "f8"), cluster_entries=50).extend(dict.fromkeys(COLUMNS, values))
    return path.read_bytes(), values


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        server, size = self.server, len(self.server.data)
        ranges = [
            (int(first), min(size, int(last) + 1)) if first else (max(0, size - int(last)), size)
            for first, last in re.findall(r"(\d*)-(\d*)", self.headers["Range"])
        ]
        server.requests.append(len(ranges))
        if server.dead:
            server.ended.wait(20)
        if server.several == "first":
            ranges = ranges[:1]
        if len(ranges) == 1:
            first, last = ranges[0]
            headers = {"Content-Range": f"bytes {first}-{last - 1}/{size}"}
            return self.answer(206, headers, server.data[first:last])
        if server.several == "close":
            self.close_connection = True
            return self.connection.shutdown(2)
        if server.several.isdigit():
            return self.answer(int(server.several), {"Content-Range": f"bytes */{size}"}, b"")
        boundary = "-" * 71 if server.several == "boundary" else "B"
        cut = 3 if server.several == "short" else 0
        body = b""
        for first, last in ranges:
            body += f"\r\n--{boundary}\r\nContent-Range: bytes {first}-{last - 1}/{size}\r\n\r\n".encode()
            body += server.data[first : last - cut]
        headers = {"Content-Type": f"multipart/byteranges; boundary={boundary}"}
        return self.answer(206, headers, body + f"\r\n--{boundary}--\r\n".encode())

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in (headers | {"ETag": '"x"', "Content-Length": len(body)}).items():
            self.send_header(name, value)
        self.end_headers()
        if not self.server.trickles:
            return self.wfile.write(body)
        for byte in body:
            if self.server.ended.wait(0.1):
                return None
            self.wfile.write(bytes([byte]))
        return None


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients that leave are no errors of the server."""


@contextmanager
def serving(data, several=""):
    server = _Server(("127.0.0.1", 0), _Handler)
    server.data, server.several, server.requests, server.ended = data, several, [], threading.Event()
    server.dead = server.trickles = False
    server.url = f"http://127.0.0.1:{server.server_port}/f.root:t"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("several", ["400", "413", "416", "431", "500", "first", "close"])
def test_servers_that_refuse_several_ranges_are_asked_for_single_ones(baskets, several):
    data, values = baskets
    with serving(data, several) as server:
        begin = time.monotonic()
        got = forthwith.open(server.url).arrays(["x3"], library="np")
        assert (got["x3"] == values).all()
        assert time.monotonic() - begin < 5
        server.requests.clear()
        # All files of the server are read so from then on.
        assert (forthwith.open(server.url).arrays(["x7"], library="np")["x7"] == values).all()
        assert max(server.requests) == 1


@pytest.mark.parametrize("several", ["short", "boundary"])
def test_damaged_answers_of_several_ranges_are_errors(baskets, several):
    with (
        serving(baskets[0], several) as server,
        pytest.raises(forthwith.SourceError, match=r"several ranges is damaged: .*boundary"),
    ):
        forthwith.open(server.url).arrays(["x3"])


@pytest.mark.parametrize("several", ["", "first"])
@pytest.mark.parametrize("step", [1, 2])
def test_gaps_between_small_baskets_cost_no_requests(baskets, several, step):
    """One request for each window of 2 MiB is what the line needs; there are 400 baskets of each column."""
    data, values = baskets
    names = COLUMNS[::step]
    with serving(data, several) as server:
        got = forthwith.open(server.url).arrays(names, library="np")
        assert all((got[name] == values).all() for name in names)
        assert len(server.requests) <= 1.5 * (4 + len(data) / (2 << 20))


@pytest.mark.parametrize("fault", ["dead", "trickles"])
@pytest.mark.parametrize("retries", [0, 4])
def test_a_read_from_a_server_that_stops_answering_fails_within_the_time_limit(baskets, fault, retries):
    with serving(baskets[0], "416") as server:
        options = {"timeout": 1, "retries": retries}
        tree = forthwith.open(server.url, storage_options=options)
        setattr(server, fault, True)
        begin = time.monotonic()
        with pytest.raises(forthwith.SourceError, match=r"no byte came for 1 s|only \d+ bytes came in 1 s"):
            tree.arrays(["x3", "x11"])
        assert time.monotonic() - begin < 2.5
