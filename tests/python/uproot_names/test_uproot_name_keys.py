"""Keys, directories and streamer infos by uproot's names: compared with the bytes of the file."""

import datetime
import io
import pathlib
import struct

import pytest
from conftest import data

from forthwith import uproot


def at(path, place, form):
    return struct.unpack_from(form, pathlib.Path(path).read_bytes(), place)


def moment(packed):
    day = (packed >> 26) + 1995, packed >> 22 & 15, packed >> 17 & 31
    return datetime.datetime(*day, packed >> 12 & 31, packed >> 6 & 63, packed & 63)


@pytest.mark.parametrize("name", ["keys.root", "zmumu.root", "codec-none.root", "histograms.root"])
def test_numbers_of_keys(name):
    path = data(name)
    with uproot.open(path) as file:
        for where in file:
            key = file.key(where)
            size, version, length, written, own, cycle = at(path, key.fSeekKey, ">ihIIHH")
            assert (key.fNbytes, key.fVersion, key.fObjlen, key.fDatime) == (size, version, length, written)
            assert (key.fKeylen, key.fCycle) == (own, cycle)
            assert key.created_on == moment(written)
            assert key.data_compressed_bytes == size - own
            assert key.is_compressed == (size - own != length)
            assert key.is_64bit == (version > 1000)
            assert key.fSeekPdir == key.parent.fSeekDir
            assert key.cache_key == f"{file.file.hex_uuid}:{key.fSeekKey}"


def test_what_directories_say_of_themselves():
    path = data("keys.root")
    with uproot.open(path) as file:
        inside = [file[name] for name, kind in file.classnames().items() if kind.startswith("TDirectory")]
        assert inside
        for directory in [file, *inside]:
            _, _, _, _, own, _ = at(path, directory.fSeekDir, ">ihIIHH")
            start = directory.fSeekDir + (own if directory is not file else directory.fNbytesName)
            version, made, changed, size, named = at(path, start, ">hIIII")
            assert (directory.fVersion, directory.fDatimeC, directory.fDatimeM) == (version, made, changed)
            assert (directory.fNbytesKeys, directory.fNbytesName) == (size, named)
            assert (directory.created_on, directory.modified_on) == (moment(made), moment(changed))
            assert not size or at(path, directory.fSeekKeys, ">i") == (size,)
            assert directory.fSeekParent == (0 if directory is file else directory.parent.fSeekDir)
        above, name = file.descent_into_path(f"{inside[0].path[0]}/something")
        assert (above, name) == (inside[0], "something")


def test_the_source_of_a_file():
    path = data("zmumu.root")
    with uproot.open(path) as file:
        assert file.file.source.num_bytes == pathlib.Path(path).stat().st_size
        assert file.file.source.closed is False
        assert file.file.detached.file_path == path
    assert file.file.source.closed is True


def test_members_of_streamer_infos():
    with uproot.open(data("histograms.root")) as file:
        axis = file.file.streamer_named("TAxis")
        assert axis.member("fName") == "TAxis"
        assert axis.member("fElements") is axis.elements
        kinds = {element.name: element.classname for element in axis.elements}
        assert kinds["TNamed"] == "TStreamerBase"
        assert kinds["fNbins"] == "TStreamerBasicType"
        assert kinds["fXbins"] == "TStreamerObjectAny"
        assert kinds["fLabels"] == "TStreamerObjectPointer"
        by_name = {element.name: element for element in axis.elements}
        assert isinstance(by_name["TNamed"], uproot.streamers.Model_TStreamerBase)
        assert by_name["TNamed"].base_version == by_name["TNamed"].member("fBaseVersion") == 1
        assert by_name["fXmin"].all_members == {
            "fName": "fXmin",
            "fTitle": by_name["fXmin"].title,
            "fType": 8,
            "fSize": 8,
            "fArrayLength": 0,
            "fArrayDim": 0,
            "fMaxIndex": [0, 0, 0, 0, 0],
            "fTypeName": "double",
        }
        buffer = next(element for element in file.file.streamer_named("TH1").elements if element.name == "fBuffer")
        assert buffer.count_name == buffer.member("fCountName") == "fBufferSize"
        assert buffer.member("fCountClass") == "TH1"
        assert buffer.tojson()["_typename"] == "TStreamerBasicPointer"
        assert axis.tojson()["fElements"]["arr"][0]["fTypeName"] == "BASE"


def test_streamer_infos_are_shown_as_uproot_shows_them():
    with uproot.open(data("histograms.root")) as file:
        text = io.StringIO()
        file.file.show_streamers("TNamed", stream=text)
        assert text.getvalue().endswith(
            "TNamed (v1): TObject (v1)\n    fName: TString (TStreamerString)\n    fTitle: TString (TStreamerString)\n"
        )


def test_classes_of_streamer_infos_whichever_spaces_their_names_have():
    with uproot.open(data("containers.root")) as file:
        spaced = [name for name in file.file.streamers if "> >" in name]
        for name in spaced:
            assert file.file.streamer_named(name.replace("> >", ">>")).name == name
