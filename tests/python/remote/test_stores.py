"""Files in a store that speaks the language of S3: moto's server, where it is installed."""

import os
import socket
import subprocess
import sys
import time

import awkward as ak
import numpy as np
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


def test_an_index_lies_beside_an_object_and_is_reached_with_the_same_options(store, tmp_path):
    client, options = store
    url = f"s3://bucket/{NAME}"
    assert forthwith.index(url, storage_options=options) == f"{url}.fwi"
    wanted = forthwith.open(f"{data('zmumu.root')}:events").arrays()
    assert ak.array_equal(forthwith.open(f"{url}:events", index=True, storage_options=options).arrays(), wanted)
    opened = forthwith.open(f"{url}:events", index=True, storage_options=options)
    client.upload_file(data("nested.root"), "bucket", NAME)
    try:
        with pytest.raises(forthwith.SourceError, match=r"changed since its index was made|has .* bytes"):
            opened.arrays()
    finally:
        client.upload_file(data("zmumu.root"), "bucket", NAME)
        client.delete_object(Bucket="bucket", Key=f"{NAME}.fwi")
    # Without one, the file is opened as it is.
    assert forthwith.open(f"{url}:events", index=True, storage_options=options).num_entries == 3600


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
    client.upload_file(data("zmumu.root"), "bucket", "odd/run[1].root")
    odd = "s3://bucket/odd/run[1].root"
    assert len(forthwith.open(f"{odd}:events", storage_options=options)["nMuon"].array()) == 3600
    with pytest.raises(forthwith.SourceError, match="there already"):
        forthwith.create(odd, storage_options=options)
    for wrong, error in (
        ("s3://bucket/many/x*.root", forthwith.MissingFileError),
        ("s3://elsewhere/*.root", forthwith.SourceError),
    ):
        with pytest.raises(error) as raised:
            forthwith.open(wrong, storage_options=options)
        assert "s3cret" not in str(raised.value)


def test_objects_are_written_whole_or_not_at_all(store, tmp_path):
    client, options = store

    def names():
        return [found["Key"] for found in client.list_objects_v2(Bucket="bucket", Prefix="out/").get("Contents", [])]

    values = np.random.default_rng(1).normal(size=3_000_000)
    for url, written in (
        ("s3://bucket/out/long.root", {"x": values}),  # 24 MB, in two parts
        ("s3://bucket/out/short.root", {"x": [[1.5], []]}),
    ):
        with forthwith.create(url, compression=None, storage_options=options) as file:
            file["a/b/t"] = written
            file["a/c"] = "text"
            assert url.removeprefix("s3://bucket/") not in names()
        read = forthwith.open(url, storage_options=options)
        assert ak.array_equal(read["a/b/t"]["x"].array(), ak.Array(written["x"]))
        assert read["a/c"] == "text"
        with pytest.raises(forthwith.SourceError, match="there already"):
            forthwith.create(url, storage_options=options)
    with (
        pytest.raises(ZeroDivisionError),
        forthwith.recreate("s3://bucket/out/never.root", storage_options=options) as file,
    ):
        file["x"] = 1 / 0
    forthwith.parquet.write("s3://bucket/out/a.parquet", {"x": [1, 2]}, storage_options=options)
    forthwith.avro.write("s3://bucket/out/a.avro", {"x": [1, 2]}, storage_options=options)
    for ending in ("parquet", "avro"):
        assert forthwith.open(f"s3://bucket/out/a.{ending}", storage_options=options)["x"].array().tolist() == [1, 2]
    assert names() == ["out/a.avro", "out/a.parquet", "out/long.root", "out/short.root"]
    assert not client.list_multipart_uploads(Bucket="bucket").get("Uploads")

    for call, error, said in (
        (
            lambda: forthwith.recreate("s3://bucket/folder/", storage_options=options),
            forthwith.SourceError,
            "not a regular",
        ),
        (lambda: forthwith.recreate("https://host/a.root"), forthwith.SourceError, "web servers"),
        (lambda: forthwith.recreate(tmp_path / "a.root", storage_options=options), forthwith.RequestError, "URLs of"),
        (lambda: forthwith.update("s3://bucket/out/short.root"), forthwith.UnsupportedError, "behind a network"),
    ):
        with pytest.raises(error, match=said):
            call()
    nowhere = forthwith.recreate("s3://elsewhere/a.root", storage_options=options)
    nowhere["x"] = "y"
    with pytest.raises(forthwith.SourceError) as raised:
        nowhere.close()
    assert "s3cret" not in str(raised.value)


def test_the_command_writes_objects(store):
    _, options = store
    environment = os.environ | {
        "AWS_ACCESS_KEY_ID": options["key"],
        "AWS_SECRET_ACCESS_KEY": options["secret"],
        "AWS_ENDPOINT_URL": options["endpoint_url"],
        "AWS_REGION": options["region"],
    }
    program = [sys.executable, "-W", "ignore", "-m", "forthwith"]
    for arguments in (
        ["convert", f"{data('zmumu.root')}:events", "s3://bucket/made/z.parquet"],
        ["cp", f"{data('zmumu.root')}:events", "s3://bucket/made/z.root", "--columns", "Muon_*"],
        ["ls", "s3://bucket/made/*"],
    ):
        done = subprocess.run([*program, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert forthwith.open("s3://bucket/made/z.root:events", storage_options=options).num_entries == 3600


def test_files_of_a_store_are_merged(store, tmp_path):
    client, options = store
    for name in ("parts/a.root", "parts/b.root"):
        client.upload_file(data("zmumu.root"), "bucket", name)
    merged = forthwith.merge(
        "s3://bucket/parts/*.root", "s3://bucket/merged/all.root", filter_name="nMuon", storage_options=options
    )
    assert merged["events"] == 7200
    read = forthwith.open("s3://bucket/merged/all.root:events", storage_options=options)
    expected = forthwith.open(f"{data('zmumu.root')}:events")["nMuon"].array()
    assert read.keys() == ["nMuon"]
    assert ak.array_equal(read["nMuon"].array(), ak.concatenate([expected] * 2))
    here = tmp_path / "here.root"
    assert forthwith.merge([data("zmumu.root"), "s3://bucket/parts/a.root"], here, storage_options=options) == merged
    with pytest.raises(forthwith.SourceError) as raised:
        forthwith.merge("s3://bucket/parts/absent.root", here, storage_options=options)
    assert "s3cret" not in str(raised.value)
    assert forthwith.open(f"{here}:events").num_entries == 7200


def test_readers_of_obstore_are_file_objects(store):
    obstore = pytest.importorskip("obstore", reason="obstore is not installed (pip install obstore)")
    from obstore.store import S3Store

    _, options = store
    access = {"access_key_id": options["key"], "secret_access_key": options["secret"], "region": options["region"]}
    bucket = S3Store("bucket", endpoint=options["endpoint_url"], client_options={"allow_http": True}, **access)
    with forthwith.open(obstore.open_reader(bucket, NAME)) as opened:
        read = opened["events"].arrays(threads=3)
        assert "s3cret" not in repr(opened)
    assert ak.array_equal(read, forthwith.open(f"{data('zmumu.root')}:events").arrays())


def test_options_of_uproot_reach_the_store(store):
    from forthwith import uproot

    _, options = store
    named = {name: value for name, value in options.items() if name != "endpoint_url"}
    for given in (
        options,
        {"storage_options": options},
        {"s3": options, "num_workers": 2},
        {**named, "client_kwargs": {"endpoint_url": options["endpoint_url"]}, "default_block_size": 1 << 20},
    ):
        with uproot.recreate("s3://bucket/uproot/a.root", **given) as file:
            file.mktree("t", {"x": np.arange(3.0)})
        assert uproot.open("s3://bucket/uproot/a.root:t", **given)["x"].array().to_list() == [0, 1, 2]
        assert uproot.concatenate("s3://bucket/uproot/*.root:t", **given)["x"].to_list() == [0, 1, 2]
        assert len(next(uproot.iterate({"s3://bucket/uproot/?.root": "t"}, **given))) == 3
    with pytest.raises(OSError, match="no option keyy"):
        uproot.open("s3://bucket/uproot/a.root", **options, keyy="x")
