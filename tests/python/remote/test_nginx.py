"""Files behind nginx, where it is installed: a server that many sites have, run on the loopback by the user of the tests."""

import json
import os
import shutil
import socket
import subprocess
import time

import awkward as ak
import numpy as np
import pytest
from conftest import DATA

import forthwith

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed (apt-get install nginx-light)")

_SETTINGS = """
{user}
daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
  log_format ranges escape=json '{{"path": "$uri", "range": "$http_range", "status": $status, "connection": $connection, '
    '"sent": $body_bytes_sent}}';
  access_log {folder}/access.log ranges;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/files;
    location /few/ {{ alias {folder}/files/; max_ranges 3; }}
    location /one/ {{ alias {folder}/files/; max_ranges 1; }}
    location /none/ {{ alias {folder}/files/; max_ranges 0; }}
    location /untagged/ {{ alias {folder}/files/; etag off; }}
    location /compressed/ {{ alias {folder}/files/; gzip on; gzip_types *; gzip_proxied any; }}
    location /brief/ {{ alias {folder}/files/; keepalive_requests 1; }}
    location /moved/ {{ rewrite ^/moved/(.*)$ /$1 redirect; }}
    location /round/ {{ return 302 /round/; }}
    location /closed/ {{ return 403; }}
    location /busy/ {{ return 503; }}
  }}
}}
"""


class _Server:
    def __init__(self, folder, port):
        self.folder, self.url = folder, f"http://127.0.0.1:{port}"

    def asked(self, path):
        """What was asked of a path, when nginx has written all of it down."""
        found, before = [], None
        while found != before:
            before = found
            time.sleep(0.1)
            lines = [json.loads(line) for line in (self.folder / "access.log").read_text().splitlines()]
            found = [line for line in lines if line["path"] == path]
        return found


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "files").mkdir()
    for name in ("zmumu.root", "nested.root"):
        shutil.copy(DATA / name, folder / "files" / name)
    numbers = np.random.default_rng(1).integers(0, 1 << 40, (3, 300_000))
    forthwith.write_parquet(folder / "files/many.parquet", dict(zip("abc", numbers, strict=True)), compression="none")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Workers of a server that root starts would be another user, who may not read the folders of tests.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_SETTINGS.format(user=user, folder=folder, port=port))
    command = [NGINX, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]
    running = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        for _ in range(100):
            with socket.socket() as waiting:
                if waiting.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if running.poll() is not None:
                pytest.fail(f"nginx does not start: {running.stderr.read().decode()}")
            time.sleep(0.1)
        yield _Server(folder, port)
    finally:
        running.terminate()
        running.wait(20)
        running.stderr.close()


@pytest.fixture(scope="module")
def expected():
    return forthwith.open(f"{DATA}/zmumu.root:events").arrays()


@pytest.mark.parametrize("way", ["", "few/", "one/", "none/", "untagged/", "compressed/", "brief/", "moved/"])
def test_files_behind_nginx_are_those_on_disk(server, expected, way):
    assert ak.array_equal(forthwith.open(f"{server.url}/{way}zmumu.root:events").arrays(), expected)
    some = forthwith.open(f"{server.url}/{way}many.parquet").arrays(["a", "c"], entry_start=1000, entry_stop=250_000)
    local = forthwith.open(server.folder / "files/many.parquet").arrays(
        ["a", "c"], entry_start=1000, entry_stop=250_000
    )
    assert ak.array_equal(some, local)


@pytest.mark.parametrize(
    ("way", "error", "text"),
    [
        ("absent/", forthwith.MissingFileError, "not found"),
        ("closed/", forthwith.SourceError, "permission"),
        ("round/", forthwith.SourceError, "more than 10 redirections"),
        ("busy/", forthwith.SourceError, "503 Service Unavailable .tried 2 times"),
    ],
)
def test_what_nginx_refuses_is_an_error(server, way, error, text):
    with pytest.raises(error, match=text):
        forthwith.open(f"{server.url}/{way}zmumu.root", storage_options={"retries": 1})


def test_few_requests_are_made_and_no_range_twice(server):
    shutil.copy(server.folder / "files/many.parquet", server.folder / "files/counted.parquet")
    forthwith.open(f"{server.url}/counted.parquet")["b"].array()
    asked = server.asked("/counted.parquet")
    ranges = [line["range"] for line in asked]
    assert len(set(ranges)) == len(ranges) < 10
    assert {line["status"] for line in asked} == {206}
    size = (server.folder / "files/counted.parquet").stat().st_size
    assert sum(line["sent"] for line in asked) < 1.05 * size / 3 + (1 << 20)


@pytest.mark.slow
def test_files_share_connections(server, expected):
    for number in range(20):
        name = f"shared{number}.root"
        shutil.copy(server.folder / "files/zmumu.root", server.folder / "files" / name)
        assert ak.array_equal(forthwith.open(f"{server.url}/{name}:events").arrays(), expected)
    connections = {line["connection"] for number in range(20) for line in server.asked(f"/shared{number}.root")}
    assert len(connections) < 10


def test_a_file_that_is_replaced_is_an_error(server):
    path = server.folder / "files/replaced.parquet"
    shutil.copy(server.folder / "files/many.parquet", path)
    opened = forthwith.open(f"{server.url}/replaced.parquet")
    assert len(opened["a"].array()) == 300_000
    other = path.with_name("other")
    other.write_bytes(bytes(reversed(path.read_bytes())))
    # nginx makes its entity tags of the size and the second of the last change.
    os.utime(other, (1_000_000_000, 1_000_000_000))
    other.replace(path)
    with pytest.raises(forthwith.ForthwithError, match="changed since it was opened"):
        opened["c"].array()
