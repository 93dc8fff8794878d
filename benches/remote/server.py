"""A web server on the loopback whose line has a latency and a bandwidth, and which notes when bytes leave it.

    python server.py FOLDER PORT MILLISECONDS MEGABYTES_PER_SECOND

`GET /log` answers the notes since the last such request, as JSON: the requests, and pairs of a time in seconds and the bytes that
left then.
"""

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_PIECE = 128 << 10


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        if self.path == "/log":
            with server.line:
                answer = json.dumps({"requests": server.asked, "sent": server.sent}).encode()
                server.asked, server.sent = 0, []
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            return
        with server.line:
            server.asked += 1
        time.sleep(server.latency)
        if self.path not in server.files:
            server.files[self.path] = memoryview((server.folder / self.path.lstrip("/")).read_bytes())
        data = server.files[self.path]
        size = len(data)
        ranges = []
        for first, last in re.findall(r"(\d*)-(\d*)", self.headers.get("Range", f"bytes=0-{size - 1}")):
            ranges.append((int(first), min(size, int(last) + 1)) if first else (max(0, size - int(last)), size))
        self.send_response(206)
        self.send_header("ETag", f'"{size}"')
        if len(ranges) == 1:
            start, end = ranges[0]
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{size}")
            body = data[start:end]
        else:
            self.send_header("Content-Type", "multipart/byteranges; boundary=B")
            parts = []
            for start, end in ranges:
                head = f"\r\n--B\r\nContent-Range: bytes {start}-{end - 1}/{size}\r\n\r\n"
                parts += [head.encode(), data[start:end]]
            body = memoryview(b"".join([*parts, b"\r\n--B--\r\n"]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), _PIECE):
            self.through_the_line(body[at : at + _PIECE])

    def through_the_line(self, piece):
        """One line for all connections: each piece waits until those before it have left."""
        server = self.server
        with server.line:
            now = time.monotonic()
            server.free = max(server.free, now) + len(piece) / server.bandwidth
            wait = server.free - now
            server.sent.append((server.free, len(piece)))
        if wait > 0.004:
            time.sleep(wait)
        self.wfile.write(piece)


def main():
    folder, port, latency, bandwidth = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.daemon_threads = True
    server.folder, server.latency, server.bandwidth = Path(folder), float(latency) / 1e3, float(bandwidth) * 1e6
    server.files = {}
    server.line, server.free, server.asked, server.sent = threading.Lock(), 0.0, 0, []
    server.serve_forever()


if __name__ == "__main__":
    main()
