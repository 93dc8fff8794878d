"""Files by lists, patterns, folders and pipes, and columns by the path behind a file's name."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import DATA, data

import forthwith
from forthwith import _forthwith

PLAIN = DATA / "parquet" / "plain.parquet"


def test_patterns_and_folders_mean_their_files(tmp_path: Path) -> None:
    for name in ("b/2.root", "a/1.root", "a/.hidden.root", "a/3.root.part"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(DATA / "zmumu.root", tmp_path / name)
    both = [str(tmp_path / "a" / "1.root"), str(tmp_path / "b" / "2.root")]
    assert _forthwith.expand_files([tmp_path]) == both
    assert _forthwith.expand_files([str(tmp_path / "*" / "*.root")]) == both
    assert _forthwith.expand_files([both[1], both[0]]) == both[::-1]
    with pytest.raises(FileNotFoundError):
        _forthwith.expand_files([str(tmp_path / "*.avro")])


def test_a_column_of_a_file_that_is_one_table() -> None:
    table = forthwith.open(PLAIN)
    name = table.keys()[0]
    column = forthwith.open(f"{PLAIN}:{name}")
    assert column.array(library="np").tolist() == table[name].array(library="np").tolist()
    assert forthwith.open(f"{PLAIN}:table").keys() == table.keys()
    with pytest.raises(KeyError, match="no such column"):
        forthwith.open(f"{PLAIN}:no such column")


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_standard_input_is_a_file(name: str) -> None:
    code = f"import forthwith; print(forthwith.open({name!r})['events'].num_entries)"
    command = f'cat {DATA / "zmumu.root"} | {sys.executable} -W ignore -c "{code}"'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "3600\n"


def test_a_pipe_is_read_and_waiting_for_it_can_be_interrupted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(PLAIN.read_bytes()))
    writer.start()
    assert forthwith.open(pipe).keys() == forthwith.open(PLAIN).keys()
    writer.join()

    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    held = os.open(pipe, os.O_RDWR)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            forthwith.open(pipe)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        os.close(held)


def test_options_that_the_format_does_not_know_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"schema is an option for Avro, ProtoBuf and JSON Lines files, but .* is Parquet"
    ):
        forthwith.open(PLAIN, schema={"type": "record", "name": "r", "fields": []})
    with pytest.raises(
        ValueError, match="row_groups is an option for Parquet files, but the format of this file is ROOT"
    ):
        forthwith.open(DATA / "zmumu.root", row_groups=[0])


def test_streamer_infos(capsys):
    with forthwith.open(data("objects.root")) as file:
        named = file.streamer_named("TNamed")
        assert (named.version, named.checksum, named.bases) == (1, 0xDFB74A3C, ["TObject"])
        assert [member.typename for member in named.members if not member.is_base] == ["TString", "TString"]
        assert file.streamers["TNamed"][1] == named
        assert file.streamer_named("TNamed", 1) == named
        assert len(file.streamer_infos) >= len(file.streamers)
        assert named.tojson()["members"][0]["is_base"] is True
        file.show_streamers("TNamed")
        assert "TNamed version 1, checksum 0xdfb74a3c\n  TObject" in capsys.readouterr().out
        file.show_streamers()
        assert capsys.readouterr().out.count("checksum") == len(file.streamer_infos)
        for wrong, match in ((("TNamd",), "did you mean TNamed"), (("TNamed", 7), "there is 1")):
            with pytest.raises(forthwith.KeyInFileError, match=match):
                file.streamer_named(*wrong)
    with (
        forthwith.open(data("avro/nested.avro")) as tree,
        pytest.raises(forthwith.UnsupportedError, match="streamer infos"),
    ):
        tree.file.show_streamers()


def test_the_table_of_a_file_has_no_empty_name(tmp_path):
    path = tmp_path / "a.parquet"
    forthwith.write_parquet(path, {"x": [1, 2], "y": [3, 4]})
    with forthwith.open(path) as table:
        said = [repr(table), repr(table["x"]), repr(next(table.iterate(report=True))[1])]
        for act in (
            lambda: table["nothing"],
            lambda: table.arrays(["nothing"]),
            lambda: table.arrays(filter_name="nothing*"),
            lambda: table.select(["x"])["y"],
            lambda: table["x/y"],
        ):
            with pytest.raises((forthwith.ForthwithError, ValueError)) as raised:
                act()
            said.append(str(raised.value))
    assert all("a.parquet" in text for text in said[:3])
    for text in said:
        assert not any(line.endswith(":") for line in text.splitlines()), text
        assert "''" not in text
        assert ":/" not in text
