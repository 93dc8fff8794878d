"""A web server with ranges, on this machine's loopback, that can be told to misbehave by the query of a URL."""

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
        faults = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        server = self.server
        with server.lock:
            server.requests.append((self.path, {name.title(): value for name, value in self.headers.items()}))
            number = sum(path == self.path for path, _ in server.requests)
        self.server.ended.wait(float(faults.get("wait", 0)))
        if "hangs" in faults and number > int(faults["hangs"]):
            self.server.ended.wait(20)
        if "status" in faults and number <= int(faults.get("times", 1 << 30)):
            return self.plain(int(faults["status"]))
        if "circle" in faults and number > int(faults["circle"] or 0):
            return self.plain(307, {"Location": self.path})
        if "to" in faults:
            return self.plain(302, {"Location": faults["to"]})
        if (data := server.files.get(url.path)) is None:
            return self.plain(404)
        tag = f'"{hash(data)}"'
        if "changes" in faults and number > int(faults["changes"]):
            tag = '"other"'
        if "grows" in faults and number > int(faults["grows"]):
            data += b"0"
        if "shrinks" in faults and number > int(faults["shrinks"]):
            data = data[: len(data) // 2]
        headers = {} if "untagged" in faults else {"ETag": tag}
        if "coding" in faults:
            headers["Content-Encoding"] = faults["coding"]
        ranges = self.ranges(len(data))
        if ranges is None or "whole" in faults or ("single" in faults and len(ranges) > 1):
            return self.answer(200, headers, data, faults, number)
        if any(start >= len(data) for start, _ in ranges):
            return self.plain(416, {"Content-Range": f"bytes */{len(data)}"})
        if "cap" in faults:
            ranges = [(start, min(end, start + int(faults["cap"]))) for start, end in ranges]
        size = len(data) + ("size" in faults) + (1 << 62 if "huge" in faults else 0)
        if len(ranges) == 1 or "first" in faults:
            start, end = ranges[0]
            shift = int(faults.get("shift", 0))
            total = "*" if "unsized" in faults else size
            headers["Content-Range"] = f"bytes {start + shift}-{end - 1 + shift}/{total}"
            if "nowhere" in faults:
                del headers["Content-Range"]
            if "inverted" in faults:
                headers["Content-Range"] = f"bytes {end}-{start}/{total}"
            if "endless" in faults:
                return self.endless(headers)
            body = data[start:end]
            body = body[: len(body) // 2] if "short" in faults else b"" if "nothing" in faults else body
            return self.answer(206, headers, body + (b"more" if "long" in faults else b""), faults, number)
        body = b""
        elsewhere = int(faults.get("elsewhere", 0))
        for start, end in [(max(0, start - elsewhere), end) for start, end in ranges]:
            body += f"\r\n--B\r\nContent-Type: a/b\r\nContent-Range: bytes {start}-{end - 1}/{size}\r\n\r\n".encode()
            body += data[start:end]
        boundary = "other" if "garbled" in faults else "B"
        headers["Content-Type"] = f"multipart/byteranges; boundary={boundary}"
        return self.answer(206, headers, body + b"\r\n--B--\r\n", faults, number)

    def ranges(self, size):
        wanted = self.headers.get("Range")
        if wanted is None:
            return None
        ranges = []
        for first, last in re.findall(r"(\d*)-(\d*)", wanted):
            ranges.append((int(first), min(size, int(last) + 1)) if first else (max(0, size - int(last)), size))
        return ranges

    def answer(self, status, headers, body, faults, number):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if "breaks" in faults and number <= int(faults["breaks"]):
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return
        if "stalls" in faults and number <= int(faults["stalls"]):
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.server.ended.wait(20)
            self.close_connection = True
            return
        with self.server.lock:
            self.server.sent += len(body)
        self.wfile.write(body)
        if "leaves" in faults:
            # Without a word: the client may be about to use the connection again.
            self.close_connection = True

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

    def handle_error(self, *_):
        """Clients that leave are no errors of the server."""


@contextmanager
def serving(files):
    """A server of ``{"/name": bytes}``: its URL is ``url``, what it was asked ``requests``, and bytes of files ``sent``."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.files, server.requests, server.lock, server.ended = dict(files), [], threading.Lock(), threading.Event()
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
