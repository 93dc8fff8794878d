"""Files in a store that speaks the language of S3: moto's server, where it is installed."""

import socket
import subprocess
import sys
import time

import awkward as ak
import pytest
from conftest import data

import forthwith

pytest.importorskip(
    "moto", reason="moto is not installed (pip install 'moto[s3,server]'): there is no server of S3's language"
)
boto3 = pytest.importorskip("boto3")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
NAME = "run 1/Z+mumu.root"


@pytest.fixture(scope="module")
def store():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as waiting:
                if waiting.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        url = f"http://127.0.0.1:{port}"
        options = {"aws_access_key_id": "who", "aws_secret_access_key": "s3cret", "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=url, **options)
        client.create_bucket(Bucket="bucket")
        client.upload_file(data("zmumu.root"), "bucket", NAME)
        yield client, {"key": "who", "secret": "s3cret", "endpoint_url": url, "region": "us-east-1"}
    finally:
        server.terminate()
        server.wait()


def test_a_file_in_a_bucket_is_the_one_on_disk(store):
    _, options = store
    tree = forthwith.open(f"s3://bucket/{NAME}:events", storage_options=options)
    assert ak.array_equal(tree.arrays(), forthwith.open(f"{data('zmumu.root')}:events").arrays())


def test_missing_things_are_errors_without_credentials(store):
    _, options = store
    for url in ("s3://bucket/absent.root", "s3://elsewhere/Z.root"):
        with pytest.raises(forthwith.MissingFileError) as raised:
            forthwith.open(url, storage_options=options)
        assert "s3cret" not in str(raised.value)
    with pytest.raises(forthwith.SourceError) as raised:
        forthwith.open(
            "s3://bucket/Z.root", storage_options={**options, "endpoint_url": "http://127.0.0.1:1", "retries": 0}
        )
    assert "s3cret" not in str(raised.value)
