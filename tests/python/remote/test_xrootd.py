"""Files behind an XRootD server, by fsspec, where the server and the packages are installed."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import awkward as ak
import pytest
from conftest import DATA

import forthwith

pytest.importorskip("fsspec_xrootd", reason="fsspec-xrootd is not installed (pip install fsspec-xrootd xrootd)")
pytest.importorskip("XRootD", reason="XRootD's client is not installed (pip install xrootd)")
XROOTD = shutil.which("xrootd")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(XROOTD is None, reason="XRootD's server is not installed (apt-get install xrootd-server)"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

_SETTINGS = """
xrd.port {port}
xrd.protocol xroot *
xrd.network nodnr
all.adminpath {folder}/admin
all.pidpath {folder}/admin
oss.localroot {folder}/files
all.export /data
"""


@pytest.fixture(scope="module")
def server():
    # Names of sockets are short: below the folder of tests they would not be.
    with tempfile.TemporaryDirectory(prefix="xrd") as name:
        folder = Path(name)
        (folder / "files/data").mkdir(parents=True)
        (folder / "admin").mkdir()
        for file in ("zmumu.root", "nested.root"):
            shutil.copy(DATA / file, folder / "files/data" / file)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (folder / "settings").write_text(_SETTINGS.format(folder=folder, port=port))
        command = [XROOTD, "-c", str(folder / "settings"), "-l", str(folder / "log"), "-p", str(port)]
        if os.geteuid() == 0:
            # XRootD does not run as root.
            for path in (folder, *folder.rglob("*")):
                shutil.chown(path, "nobody")
            command += ["-R", "nobody"]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            for _ in range(100):
                with socket.socket() as waiting:
                    if waiting.connect_ex(("127.0.0.1", port)) == 0:
                        break
                if running.poll() is not None:
                    told = "".join(path.read_text()[-600:] for path in folder.rglob("log"))
                    pytest.skip(f"XRootD's server does not start here: {told}")
                time.sleep(0.1)
            yield f"root://127.0.0.1:{port}//data"
        finally:
            running.terminate()
            running.wait(20)


def test_a_file_behind_xrootd_is_the_one_on_disk(server):
    expected = forthwith.open(f"{DATA}/zmumu.root:events").arrays()
    with forthwith.open(f"{server}/zmumu.root:events") as tree:
        for threads in (1, 3):
            assert ak.array_equal(tree.arrays(threads=threads), expected)
    chain = forthwith.open([f"{server}/zmumu.root:events"] * 2)
    assert chain.num_entries == 7200


def test_a_file_that_is_not_there_is_an_error(server):
    with pytest.raises(OSError, match="absent"):
        forthwith.open(f"{server}/absent.root")
