"""Objects that are written to a store whose answers are lost: an error says that an object is not there, and only then."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import forthwith

# Two parts of 16 MiB.
VALUES = np.random.default_rng(0).normal(size=2_500_000)


class _Handler(BaseHTTPRequestHandler):
    """As much of S3's language as uploads and reads of objects need."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in ({"Content-Length": len(body)} | headers).items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, status, code):
        self.reply(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def parse(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, *sorted(query)))
        return url.path, query, body

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path, _, _ = self.parse()
        if self.command == "HEAD" and self.server.heads == "refused":
            return self.fail(403, "AccessDenied")
        if path not in self.server.objects:
            return self.fail(404, "NoSuchKey")
        data, version = self.server.objects[path]
        state = {"ETag": f'"{version}"', "Last_Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
        if "Range" not in self.headers:
            return self.reply(200, data, **state)
        first, last = self.headers["Range"].removeprefix("bytes=").split("-")
        start = int(first) if first else max(0, len(data) - int(last))
        part = data[start : int(last) + 1] if first else data[start:]
        place = f"bytes {start}-{start + len(part) - 1}/{len(data)}"
        return self.reply(206, part, Content_Range=place, **state)

    def do_PUT(self):
        path, query, body = self.parse()
        if "uploadId" in query:
            self.server.uploads[query["uploadId"]][int(query["partNumber"])] = body
        else:
            self.store(path, body)
            if self.lost():
                return None
        return self.reply(200, ETag='"part"')

    def do_POST(self):
        path, query, _ = self.parse()
        server = self.server
        if "uploads" in query:
            name = str(len(server.asked))
            server.uploads[name] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return self.reply(200, text.encode())
        if server.completion == "refused":
            return self.fail(400, "InvalidPart")
        if server.completion == "ignored":
            return self.lost() or self.fail(500, "InternalError")
        if query["uploadId"] not in server.uploads:
            return self.fail(404, "NoSuchUpload")
        parts = server.uploads.pop(query["uploadId"])
        data = b"".join(parts[number] for number in sorted(parts))
        self.store(path, data[:-1] if server.completion == "truncated" else data)
        if self.lost():
            return None
        return self.reply(200, b'<CompleteMultipartUploadResult><ETag>"new"</ETag></CompleteMultipartUploadResult>')

    def do_DELETE(self):
        _, query, _ = self.parse()
        self.server.uploads.pop(query["uploadId"], None)
        return self.reply(204)

    def store(self, path, data):
        self.server.objects[path] = data, len(self.server.asked)

    def lost(self):
        """Whether the answer is lost: the connection ends without one, or stays silent."""
        if self.server.answers == "dropped":
            self.close_connection = True
            self.connection.shutdown(2)
        elif self.server.answers == "late":
            self.server.ended.wait(20)
        return self.server.answers != "sent"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Connections that the test ends are no errors of the server."""


@contextmanager
def storing(completion="done", answers="sent", heads="answered"):
    server = _Server(("127.0.0.1", 0), _Handler)
    server.completion, server.answers, server.heads = completion, answers, heads
    server.objects, server.uploads, server.asked, server.ended = {}, {}, [], threading.Event()
    server.options = {"endpoint_url": f"http://127.0.0.1:{server.server_port}", "key": "a", "secret": "b", "timeout": 1}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def write(server, values=VALUES, **options):
    with forthwith.recreate("s3://b/a.root", compression=None, storage_options={**server.options, **options}) as file:
        file["t"] = {"x": values}


def read(server):
    server.answers = "sent"
    return forthwith.open("s3://b/a.root:t", storage_options=server.options)["x"].array(library="np")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize(("answers", "retries"), [("dropped", 0), ("dropped", 2), ("late", 0)])
def test_an_object_whose_completion_was_not_answered_is_written(older, answers, retries):
    with storing(answers=answers) as server:
        if older:
            server.objects["/b/a.root"] = b"older", "older"
        write(server, retries=retries)
        assert (read(server) == VALUES).all()
        assert not server.uploads


@pytest.mark.parametrize("older", [None, b"older", "as long"])
@pytest.mark.parametrize(
    ("completion", "answers"),
    [("ignored", "dropped"), ("ignored", "sent"), ("refused", "sent"), ("truncated", "dropped")],
)
def test_an_upload_that_was_not_completed_is_an_error(older, completion, answers):
    with storing() as server:
        if older == "as long":
            write(server)
        elif older:
            server.objects["/b/a.root"] = older, "older"
        before = dict(server.objects)
        server.completion, server.answers = completion, answers
        with pytest.raises(forthwith.SourceError, match=r"s3://b/a.root"):
            write(server, retries=0)
        assert not server.uploads
        if completion != "truncated":
            assert server.objects == before
        assert server.asked.count(("DELETE", "uploadId")) == 1


def test_an_error_says_that_the_store_does_not_tell_whether_it_completed_an_upload():
    with (
        storing(answers="dropped", heads="refused") as server,
        pytest.raises(forthwith.SourceError, match="does not tell whether the object was written"),
    ):
        write(server, retries=0)


def test_a_short_object_whose_answer_was_lost_is_sent_again():
    with storing(answers="dropped") as server:
        timer = threading.Timer(0.15, setattr, (server, "answers", "sent"))
        timer.start()
        write(server, VALUES[:10], retries=4)
        timer.join()
        assert (read(server) == VALUES[:10]).all()


def test_a_lost_completion_takes_no_longer_than_its_time_limits():
    with storing("ignored", "late") as server:
        begin = time.monotonic()
        with pytest.raises(forthwith.SourceError, match=r"s3://b/a.root"):
            write(server, retries=0)
        assert time.monotonic() - begin < 6
