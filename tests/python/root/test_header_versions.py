"""Versions in the headers of files that C++ ROOT opens."""

import struct

import numpy as np
import pytest
from root_judge import by_root, need_root

import forthwith
import forthwith.uproot

VERSIONS = [0xFFF1B180, 0, 1, 0x80000000, 0xFFFFFFFF, 62400]
ENTRIES = """
# What the version says of old data is not meant here.
ROOT.gErrorIgnoreLevel = ROOT.kFatal
entries = []
for path in sys.argv[1:]:
    file = ROOT.TFile.Open(path)
    entries.append(file.Get('t').GetEntries())
    file.Close()
print(json.dumps(entries))
"""


def made(folder, version):
    path = folder / f"{version}.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"x": np.arange(10)}
    content = bytearray(path.read_bytes())
    struct.pack_into(">I", content, 4, version)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_any_version_below_a_million_has_short_pointers(tmp_path, version):
    path = made(tmp_path, version)
    for module in (forthwith, forthwith.uproot):
        with module.open(path) as file:
            assert file["t"].num_entries == 10
    with forthwith.update(path) as file:
        file["t"].extend({"x": np.arange(5)})
    with forthwith.open(path) as file:
        assert file["t"]["x"].array().to_list() == [*range(10), *range(5)]
    forthwith.merge([path], tmp_path / "merged.root")
    with forthwith.open(tmp_path / "merged.root") as file:
        assert file["t"].num_entries == 15


def test_root_agrees(tmp_path):
    need_root()
    paths = [made(tmp_path, version) for version in VERSIONS]
    assert by_root(ENTRIES, *paths) == [10] * len(paths)


def test_texts_are_still_no_files(tmp_path):
    for text in (b"root:x:0:0:root:/root:/bin/bash\n" * 9, b"root" + b"\xff" * 400, b"root\xc3\xa4 und anderes" * 20):
        (tmp_path / "text.root").write_bytes(text)
        with pytest.raises(forthwith.ForthwithError):
            forthwith.open(tmp_path / "text.root")
