"""A web server with ranges, on this machine's loopback, told to misbehave by the query of a URL or for all requests."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers are sent before the body: otherwise the body may wait for their receipt.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        server = self.server
        with server.lock:
            server.requests.append((self.path, {name.title(): value for name, value in self.headers.items()}))
            self.number = sum(path == self.path for path, _ in server.requests)
            query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
            self.faults = query | server.faults | server.choose(self.number)
        server.ended.wait(float(self.faults.get("wait", 0)))
        if self.happens("hangs", after=True) or "dead" in self.faults:
            server.ended.wait(20)
        if not self.refuses(url):
            self.send_file(server.files.get(url.path))

    def happens(self, fault, after=False):
        """Whether a fault concerns this request: it has the number of requests that it is for, or that go well before."""
        if fault not in self.faults:
            return False
        number = int(self.faults[fault] or 0)
        return self.number > number if after else self.number <= number

    def refuses(self, url):
        """Answers without a file, if a fault says so."""
        faults = self.faults
        if "status" in faults and self.number <= int(faults.get("times", 1 << 30)):
            self.plain(int(faults["status"]))
        elif self.happens("circle", after=True):
            self.plain(307, {"Location": self.path})
        elif "to" in faults:
            self.plain(302, {"Location": faults["to"]})
        elif url.path not in self.server.files:
            self.plain(404)
        else:
            return False
        return True

    def send_file(self, data):
        faults = self.faults
        tag = '"other"' if self.happens("changes", after=True) else f'"{hash(data)}"'
        if self.happens("grows", after=True):
            data += b"0"
        if self.happens("shrinks", after=True):
            data = data[: len(data) // 2]
        headers = {} if "untagged" in faults else {"ETag": tag}
        if "coding" in faults:
            headers["Content-Encoding"] = faults["coding"]
        ranges = self.ranges(len(data))
        if ranges is None or "whole" in faults or ("single" in faults and len(ranges) > 1):
            return self.answer(200, headers, data)
        if any(start >= len(data) for start, _ in ranges):
            return self.plain(416, {"Content-Range": f"bytes */{len(data)}"})
        if "cap" in faults:
            ranges = [(start, min(end, start + int(faults["cap"]))) for start, end in ranges]
        size = len(data) + ("size" in faults) + (1 << 62 if "huge" in faults else 0)
        if len(ranges) == 1 or "first" in faults:
            return self.send_range(headers, data, ranges[0], "*" if "unsized" in faults else size)
        if len(ranges) > int(faults.get("limit", 1 << 30)):
            return self.refuse_several(headers, data)
        return self.send_ranges(headers, data, ranges, size)

    def send_range(self, headers, data, wanted, size):
        faults, (start, end) = self.faults, wanted
        shift = int(faults.get("shift", 0))
        headers["Content-Range"] = f"bytes {start + shift}-{end - 1 + shift}/{size}"
        if "nowhere" in faults:
            del headers["Content-Range"]
        if "inverted" in faults:
            headers["Content-Range"] = f"bytes {end}-{start}/{size}"
        if "endless" in faults:
            return self.endless(headers)
        body = data[start:end]
        body = body[: len(body) // 2] if "short" in faults else b"" if "nothing" in faults else body
        return self.answer(206, headers, body + (b"more" if "long" in faults else b""))

    def send_ranges(self, headers, data, ranges, size):
        faults = self.faults
        elsewhere = int(faults.get("elsewhere", 0))
        ranges = [(max(0, start - elsewhere), end) for start, end in ranges]
        if "reversed" in faults:
            ranges = ranges[::-1]
        if "dropped" in faults:
            ranges = ranges[::2]
        if "doubled" in faults:
            ranges = [each for each in ranges for _ in range(2)]
        boundary = "-" * 71 if "boundary" in faults else "B"
        cut = 3 if "cut" in faults else 0
        body = b""
        for start, end in ranges:
            body += f"\r\n--{boundary}\r\nContent-Type: a/b\r\nContent-Range: bytes {start}-{end - 1}/{size}\r\n\r\n".encode()
            body += data[start : end - cut]
        named = "other" if "garbled" in faults else boundary
        headers["Content-Type"] = f"multipart/byteranges; boundary={named}"
        return self.answer(206, headers, body + f"\r\n--{boundary}--\r\n".encode())

    def refuse_several(self, headers, data):
        """Refuses more ranges than the limit: by a status, the whole file, or the end of the connection."""
        how = self.faults.get("refusal", "200")
        if how == "close":
            self.close_connection = True
            return self.connection.shutdown(2)
        if how == "200":
            return self.answer(200, headers, data)
        return self.plain(int(how), {"Content-Range": f"bytes */{len(data)}"})

    def ranges(self, size):
        wanted = self.headers.get("Range")
        if wanted is None:
            return None
        ranges = []
        for first, last in re.findall(r"(\d*)-(\d*)", wanted):
            ranges.append((int(first), min(size, int(last) + 1)) if first else (max(0, size - int(last)), size))
        return ranges

    def answer(self, status, headers, body):
        length = len(body) + int(self.faults.get("length", 0))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if length > len(body):
            self.close_connection = True
        if self.happens("breaks"):
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        if self.happens("stalls"):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.server.ended.wait(20)
            self.close_connection = True
            return
        if "trickles" in self.faults:
            self.trickle(body)
            return
        with self.server.lock:
            self.server.sent += len(body)
        self.wfile.write(body)
        if "leaves" in self.faults:
            # Without a word: the client may be about to use the connection again.
            self.close_connection = True

    def trickle(self, body):
        for byte in body:
            if self.server.ended.wait(0.1):
                return
            self.wfile.write(bytes([byte]))

    def endless(self, headers):
        """An answer in chunks, without an end."""
        self.send_response(206)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while not self.server.ended.is_set():
            self.wfile.write(b"10000\r\n" + bytes(0x10000) + b"\r\n")

    def plain(self, status, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        """Clients that leave are no errors of the server."""


@contextmanager
def serving(files, faults=None, choose=None):
    """A server of ``{"/name": bytes}``: its URL is ``url``, what it was asked ``requests``, and bytes of files ``sent``.

    Args:
        faults: Faults of all requests, as the query of a URL has them; the attribute may be changed.
        choose: A function that gives more of them for a request, by the number of the request for its URL.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    server.files, server.requests, server.lock, server.ended = dict(files), [], threading.Lock(), threading.Event()
    server.faults, server.choose = dict(faults or {}), choose or (lambda _: {})
    server.sent = 0
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
