"""Trees of random Forms, written by forthwith and read by C++ ROOT, uproot and forthwith.

The example ``random_trees`` of the crate ``forthwith-ttree`` draws types, values and options by a seed, writes a file of
each, and tells beside it what every branch holds. ``check`` compares that with what a reader finds, to the bit:

    cargo run -p forthwith-ttree --example random_trees -- FOLDER SEED FILES
    python tests/generate/random_trees_written.py FOLDER [root|uproot|forthwith]

C++ ROOT must say nothing on the standard error. Ends with the number of files and branches, or the first difference.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any


def numbers(kind: str, value: Any) -> Any:
    """Values as they stand in the description: floating-point numbers as their bits."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [numbers(kind, item) for item in value]
    if kind == "float32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if kind == "float64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind == "text":
        return value if isinstance(value, str) else bytes(value).decode()
    if kind == "bool":
        return bool(value)
    return int(value)


class Standard:
    """What is written to the standard error by whatever language, while it is entered."""

    def __enter__(self) -> Standard:
        sys.stderr.flush()
        self.file = tempfile.TemporaryFile()
        self.old = os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr.flush()
        os.dup2(self.old, 2)
        os.close(self.old)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")


SPELL = """
#include <cstring>
#include <string>
template <class T> void spell(std::string& to, const T& value) {
  if constexpr (std::is_same_v<T, bool>) to += value ? "true" : "false";
  else if constexpr (std::is_same_v<T, float>) { unsigned bits; std::memcpy(&bits, &value, 4); to += std::to_string(bits); }
  else if constexpr (std::is_same_v<T, double>) {
    unsigned long long bits; std::memcpy(&bits, &value, 8); to += std::to_string(bits);
  }
  else if constexpr (std::is_arithmetic_v<T>) to += std::to_string(+value);
  else if constexpr (std::is_same_v<T, std::string>) {
    to += '"';
    for (unsigned char c : value) { char hex[3]; std::snprintf(hex, 3, "%02x", c); to += hex; }
    to += '"';
  }
  else {
    to += '[';
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (at) to += ',';
      spell<std::decay_t<typename T::value_type>>(to, value[at]);
    }
    to += ']';
  }
}
template <class T> std::string spelled(ROOT::RDF::RNode frame, const std::string& name) {
  std::string text = "[";
  auto taken = frame.Take<T>(name);
  for (const auto& value : taken.GetValue()) {
    if (text.size() > 1) text += ',';
    spell<T>(text, value);
  }
  return text + "]";
}
template <class T> std::string of_leaf(TTree* tree, TLeaf* leaf) {
  std::string text = "[";
  for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
    leaf->GetBranch()->GetEntry(entry);
    if (leaf->GetLeafCount()) leaf->GetLeafCount()->GetBranch()->GetEntry(entry);
    const T* values = static_cast<const T*>(leaf->GetValuePointer());
    if (entry) text += ',';
    spell<std::vector<T>>(text, std::vector<T>(values, values + leaf->GetLen()));
  }
  return text + "]";
}
"""


def of_root(path: Path, branches: list[dict[str, Any]]) -> dict[str, Any]:
    """All branches by RDataFrame, and all entries by ``TTree::GetEntry``."""
    import ROOT

    if not hasattr(ROOT, "spelled"):
        ROOT.gInterpreter.Declare(SPELL)

    def text(value: Any) -> Any:
        if isinstance(value, str):
            return bytes.fromhex(value).decode()
        if value and isinstance(value[0], int):
            # The characters of a leaf, which end at NUL.
            return bytes(item & 255 for item in value).split(b"\0")[0].decode()
        return [text(item) for item in value]

    with Standard() as standard:
        file = ROOT.TFile.Open(str(path))
        tree = file.Get("t")
        entries = tree.GetEntries()
        # Maps that were read as objects are freed twice by C++ ROOT, those of its own files as well.
        maps = any(str(branch.GetClassName()).startswith("map<") for branch in tree.GetListOfBranches())
        for number in range(0 if maps else entries):
            if tree.GetEntry(number) < 0:
                raise AssertionError(f"{path}: entry {number} cannot be read")
        found = {}
        if entries:
            frame = ROOT.RDataFrame("t", str(path))
            known = {str(name).split("[")[0]: str(name) for name in frame.GetColumnNames()}
            for branch in branches:
                name = branch["name"]
                leaf = tree.FindLeaf(name) or tree.FindLeaf(name.split(".", 1)[-1])
                held = leaf.GetBranch() if leaf else None
                if isinstance(held, ROOT.TBranchElement) and (held.GetType(), held.GetStreamerType()) == (41, 300):
                    # RDataFrame and TTreeFormula cannot read containers and texts in divided collections, in C++ ROOT's
                    # own files either: TTree::GetEntry has read them.
                    found[name] = None
                    continue
                if name not in known:
                    raise AssertionError(f"{path}: no column {name} in {sorted(known)}")
                column = known[name]
                kind = str(frame.GetColumnType(column))
                if kind.count("vector<") > 1:
                    # RDataFrame asks for dictionaries of these; TTree::GetEntry has read them.
                    found[name] = None
                    continue
                if "array<" in kind:
                    # Leaves x[n][3], which RDataFrame takes for a branch of std::array.
                    found[name] = json.loads(str(ROOT.of_leaf[leaf.GetTypeName()](tree, leaf)))
                    continue
                values = json.loads(str(ROOT.spelled[kind](ROOT.RDF.AsRNode(frame), column)))
                if branch["kind"] == "text" and values and isinstance(values[0], int):
                    values = [[value] for value in values]
                found[name] = text(values) if branch["kind"] == "text" else values
        file.Close()
    if standard.text:
        raise AssertionError(f"{path}: C++ ROOT says {standard.text}")
    return found


def by_name(keys: list[str]) -> dict[str, str]:
    """The paths of branches by their names, without dimensions."""
    return {key.rsplit("/", 1)[-1].split("[")[0]: key for key in keys}


def of_uproot(path: Path, branches: list[dict[str, Any]]) -> dict[str, Any]:
    """All branches by uproot."""
    import uproot

    with uproot.open(path) as file:
        tree = file["t"]
        keys = by_name(list(tree.keys()))
        return {branch["name"]: tree[keys[branch["name"]]].array().to_list() for branch in branches}


def of_forthwith(path: Path, branches: list[dict[str, Any]]) -> dict[str, Any]:
    """All branches by forthwith."""
    import forthwith

    tree = forthwith.open(path)["t"]
    keys = by_name(list(tree.keys()))
    return {branch["name"]: tree[keys[branch["name"]]].array().to_list() for branch in branches}


READERS = {"root": of_root, "uproot": of_uproot, "forthwith": of_forthwith}


def reshape(found: Any, like: Any) -> Any:
    """Arrays of several dimensions, which RDataFrame has flat."""
    if isinstance(like, list) and isinstance(found, list):
        if like and isinstance(like[0], list) and found and not isinstance(found[0], list):
            sizes = [len(item) for item in like]
            cut, begin = [], 0
            flat = [leaves(item) for item in like]
            for item, leaf in zip(like, flat, strict=True):
                cut.append(reshape(found[begin : begin + len(leaf)], item))
                begin += len(leaf)
            return cut if begin == len(found) else (found, sizes)
        if len(found) == len(like):
            return [reshape(item, other) for item, other in zip(found, like, strict=True)]
    return found


def leaves(value: Any) -> list[Any]:
    """What stands in lists of lists, without them."""
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]


def check(folder: Path, reader: str) -> tuple[int, int]:
    """Compares all files of a folder, and returns how many files and branches these were."""
    files = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    count = 0
    for description in files:
        told = json.loads(description.read_text())
        path = description.with_suffix(".root")
        found = READERS[reader](path, told["branches"])
        for branch in told["branches"]:
            name, expected = branch["name"], branch["values"]
            if not expected:
                continue
            count += 1
            if found[name] is None:
                continue
            values = found[name] if reader == "root" else numbers(branch["kind"], found[name])
            if reader == "root":
                values = reshape(values, expected)
            if values != expected:
                entry = next(
                    (at for at, pair in enumerate(zip(values, expected, strict=False)) if pair[0] != pair[1]), -1
                )
                raise AssertionError(
                    f"{path}: {name} has {len(values)} entries, {len(expected)} were written; "
                    f"entry {entry} is {values[entry]}, was written as {expected[entry]}"
                )
    return len(files), count


if __name__ == "__main__":
    for reader in sys.argv[2:] or READERS:
        files, branches = check(Path(sys.argv[1]), reader)
        print(f"{reader}: {files} files, {branches} branches equal")
