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


def test_patterns_are_the_objects_that_match(store):
    client, options = store
    for name in ("many/2/b.root", "many/1/a.root", "many/1/c.txt", "many/1/.hidden.root", "many/d.root"):
        client.upload_file(data("zmumu.root"), "bucket", name)
    chain = forthwith.open("s3://bucket/many/*/?.root:events", storage_options=options)
    assert chain.files == ["s3://bucket/many/1/a.root:events", "s3://bucket/many/2/b.root:events"]
    assert chain.num_entries == 7200
    everything = forthwith.open("s3://bucket/many/**/*.root:events", storage_options=options)
    assert [file.removeprefix("s3://bucket/many/") for file in everything.files] == [
        "1/a.root:events",
        "2/b.root:events",
        "d.root:events",
    ]
    assert forthwith.open("s3://bucket/m*/[!c]/a.root:events", storage_options=options).num_entries == 3600
    assert len(forthwith.engines.plan("s3://bucket/many/*.root:events", parts=2, storage_options=options)) == 2
    step = next(forthwith.iterate("s3://bucket/many/*/*.root:events", ["nMuon"], storage_options=options))
    assert len(step) > 0
    for wrong, error in (
        ("s3://bucket/many/x*.root", forthwith.MissingFileError),
        ("s3://elsewhere/*.root", forthwith.SourceError),
    ):
        with pytest.raises(error) as raised:
            forthwith.open(wrong, storage_options=options)
        assert "s3cret" not in str(raised.value)
