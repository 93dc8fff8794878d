"""Trees that forthwith writes, copied by C++ ROOT in every way, and their records beside those that C++ ROOT writes."""

import json
import random

import awkward as ak
import numpy as np
import pytest
from root_judge import by_root, need_root

import forthwith.uproot

COPIES = """
import os
ROOT.gErrorIgnoreLevel = 1001
source, folder, is_framed = sys.argv[1], sys.argv[2], sys.argv[3] == 'True'

def copied(name, make):
    new = ROOT.TFile(os.path.join(folder, name + '.root'), 'recreate', '', 505)
    old = ROOT.TFile.Open(source)
    new.cd()
    copy = make(old.Get('t'))
    new.cd()
    copy.Write()
    new.Close()
    old.Close()

def filled(tree):
    copy = tree.CloneTree(0)
    for entry in range(tree.GetEntries()):
        tree.GetEntry(entry)
        copy.Fill()
    return copy

copied('slow', lambda tree: tree.CloneTree(-1, ''))
copied('fast', lambda tree: tree.CloneTree(-1, 'fast'))
copied('half', lambda tree: tree.CopyTree('Entry$ % 2 == 0'))
copied('filled', filled)
merger = ROOT.TFileMerger(False, False)
merger.OutputFile(os.path.join(folder, 'hadd.root'), 'RECREATE', 207)
merger.AddFile(source)
assert merger.Merge()
chain = ROOT.TChain('t')
chain.Add(source)
chain.Add(source)
assert chain.Merge(os.path.join(folder, 'chain.root'))
if is_framed:
    ROOT.RDataFrame('t', source).Snapshot('t', os.path.join(folder, 'snapshot.root'))
print(json.dumps('done'))
"""
WORDS = ["", "a", "bb", "ccc äö", "x" * 300]
NUMBERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "bool"]


class Columns:
    """Columns of random types, of so many entries."""

    def __init__(self, seed, entries):
        self.random, self.entries, self.classes = random.Random(seed), entries, 0

    def numbers(self, count):
        values = [self.random.randrange(100) for _ in range(count)]
        return np.array(values, "i8").astype(self.random.choice(NUMBERS))

    def texts(self, count):
        return ak.Array([*self.random.choices(WORDS, k=count), "one more"])[:-1]

    def lists(self, of, count):
        counts = np.array([self.random.randrange(4) for _ in range(count)], "i8")
        return ak.unflatten(of(int(counts.sum())), counts)

    def records(self, count, may_divide=True, depth=0):
        self.classes += 1
        name = f"Class{self.classes}"
        kinds = [self.numbers, self.texts, lambda count: self.numbers(2 * count).reshape(count, 2)]
        kinds += [lambda count: self.lists(self.numbers, count), lambda count: self.lists(self.texts, count)]
        if depth < 2:
            kinds.append(lambda count: self.records(count, may_divide, depth + 1))
        if may_divide:
            kinds.append(lambda count: self.lists(lambda items: self.records(items, False, depth + 1), count))
        chosen = self.random.choices(kinds, k=self.random.randrange(1, 4))
        fields = {f"member{at}": kind(count) for at, kind in enumerate(chosen)}
        return ak.zip(fields, depth_limit=1, with_name=name)

    def framed(self):
        """Columns that `RDataFrame` writes without dictionaries of classes."""
        count = self.entries
        return {
            "number": self.numbers(count),
            "texts": self.lists(self.texts, count),
            "text": self.texts(count),
            "lists": self.lists(self.numbers, count),
            "vectors": ak.values_astype(self.lists(self.numbers, count), "float32"),
        }

    def all(self):
        """Columns of every kind that is written."""
        count = self.entries
        return {
            "fixed": self.numbers(6 * count).reshape(count, 2, 3),
            "bytes": [text.encode() for text in self.texts(count).to_list()],
            "characters": self.texts(count),
            "nested": self.lists(lambda count: self.lists(self.texts, count), count),
            "half": np.arange(count, dtype="f4"),
            "record": self.records(count),
            "records": self.lists(lambda count: self.records(count, False), count),
            **self.framed(),
        }


OPTIONS = {
    "jagged": {"vectors": "vector"},
    "strings": {"characters": "characters"},
    "records": "class",
    "floats": {"half": "float16"},
}


def options_of(columns):
    """The options of these columns."""
    chosen = {key: value for key, value in OPTIONS.items() if not isinstance(value, dict)}
    for key, values in OPTIONS.items():
        if isinstance(values, dict):
            chosen[key] = {name: value for name, value in values.items() if name in columns}
    return chosen


def rows(path):
    with forthwith.open(path) as file:
        return file["t"].arrays().to_list()


def compare_copies(path, folder, is_framed):
    """Compares the rows of a file with those of the copies that C++ ROOT makes."""
    expected = rows(path)
    assert by_root(COPIES, path, folder, is_framed) == "done"
    of_copy = {"half": expected[::2], "chain": 2 * expected}
    names = ["slow", "fast", "half", "filled", "hadd", "chain"] + ["snapshot"] * is_framed
    for name in names:
        assert rows(folder / f"{name}.root") == of_copy.get(name, expected), name


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
def test_copies_of_root_have_the_same_values(tmp_path, seed):
    need_root()
    is_framed = seed == 0
    columns = Columns(seed, 7)
    chosen = columns.framed() if is_framed else columns.all()
    with forthwith.recreate(tmp_path / "source.root") as file:
        file.mktree("t", chosen, cluster_entries=3, **options_of(chosen))
    compare_copies(tmp_path / "source.root", tmp_path, is_framed)


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_copies_of_branches_with_slashes_have_the_same_values(tmp_path, seed):
    need_root()
    columns = Columns(seed, 7)
    chosen = columns.all()
    options = options_of(chosen)
    refused = pytest.raises(forthwith.UnsupportedError, match=r"C\+\+ ROOT ends when it copies objects")
    with forthwith.recreate(tmp_path / "source.root") as file, refused:
        file.mktree("t", {"in/record": chosen["record"]}, records="class", slashes_in_names=True)
    chosen = {f"in/{name}": values for name, values in chosen.items() if not name.startswith("record")}
    options = {
        key: {f"in/{name}": value for name, value in given.items()} if isinstance(given, dict) else given
        for key, given in options.items()
    }
    with forthwith.recreate(tmp_path / "source.root") as file:
        with pytest.raises(forthwith.UnsupportedError, match=r"unless they are asked for, slashes"):
            file.mktree("t", chosen, **options)
        file.mktree("t", chosen, cluster_entries=3, slashes_in_names=True, **options)
    compare_copies(tmp_path / "source.root", tmp_path, False)


def test_copies_of_extended_branches_with_slashes_have_the_same_values(tmp_path):
    need_root()
    chosen = {f"in/{name}": values for name, values in Columns(5, 7).framed().items()}
    path = tmp_path / "source.root"
    with forthwith.uproot.recreate(path) as file:
        file.mktree("t", chosen)
    with forthwith.update(path) as file:
        file["t"].extend(chosen)
    assert rows(path)[:7] == rows(path)[7:]
    compare_copies(path, tmp_path, False)


def test_copies_of_extended_trees_have_the_same_values(tmp_path):
    need_root()
    path = tmp_path / "source.root"
    with forthwith.recreate(path) as file:
        file["t"] = {"text": WORDS}
        file["t"].extend({"text": WORDS[::-1]})
    with forthwith.update(path) as file:
        file["t"].extend({"text": WORDS})
        file["t"].add_branches({"more": [word + "!" for word in 3 * WORDS], "bytes": [b"a\0b"] * 15})
    assert rows(path)[3] == {"text": WORDS[3], "more": WORDS[3] + "!", "bytes": "a\0b"}
    compare_copies(path, tmp_path, False)


# The tree of `made_by_forthwith`.
MADE_BY_ROOT = """
#include <TFile.h>
#include <TTree.h>
#include <map>
#include <string>
#include <vector>
struct Deep { float number; std::string text; };
struct Item { int number; float array[3]; std::vector<float> list; Deep deep; };
struct Whole { int number; float array[3]; std::string text; std::vector<float> list; Deep deep; std::vector<Deep> items; };
void make(const char *path) {
   TFile file(path, "recreate");
   TTree tree("t", "");
   int i = 0, n = 0; double d = 0; bool b = false; float fixed[3] = {}, jagged[10]; char characters[20] = "";
   signed char c = 0; unsigned char uc = 0; short s = 0; unsigned short us = 0; unsigned int u = 0; Long64_t l = 0;
   ULong64_t ul = 0; float f = 0; Float16_t half = 0; Double32_t single = 0;
   std::string text; std::vector<std::string> texts; std::vector<float> vector; std::vector<std::vector<int>> nested;
   std::map<std::string, double> map; Whole whole; std::vector<Item> items;
   auto *wholep = &whole; auto *itemsp = &items;
   tree.Branch("b", &b, "b/O"); tree.Branch("c", &c, "c/B"); tree.Branch("uc", &uc, "uc/b"); tree.Branch("s", &s, "s/S");
   tree.Branch("us", &us, "us/s"); tree.Branch("i", &i, "i/I"); tree.Branch("u", &u, "u/i"); tree.Branch("l", &l, "l/L");
   tree.Branch("ul", &ul, "ul/l"); tree.Branch("f", &f, "f/F"); tree.Branch("d", &d, "d/D");
   tree.Branch("half", &half, "half/f"); tree.Branch("single", &single, "single/d");
   tree.Branch("fixed", fixed, "fixed[3]/F"); tree.Branch("njagged", &n, "njagged/I");
   tree.Branch("jagged", jagged, "jagged[njagged]/F"); tree.Branch("text", &text);
   tree.Branch("characters", characters, "characters/C"); tree.Branch("texts", &texts); tree.Branch("vector", &vector);
   tree.Branch("nested", &nested); tree.Branch("map", &map); tree.Branch("whole.", &wholep); tree.Branch("items", &itemsp);
   for (int entry = 1; entry < 5; ++entry) {
      i = n = c = uc = s = us = u = l = ul = f = d = half = single = entry; b = entry % 2;
      for (int k = 0; k < 3; ++k) fixed[k] = entry;
      for (int k = 0; k < entry; ++k) jagged[k] = k;
      text = std::string(entry, 'x'); snprintf(characters, 20, "%s", text.c_str());
      texts.assign(entry, text); vector.assign(entry, entry); nested.assign(entry, std::vector<int>(entry, entry));
      map.clear();
      for (int k = 0; k < entry; ++k) map[std::string(k + 1, 'k')] = k;
      Deep deep{float(entry), text};
      whole = Whole{entry, {1, 2, 3}, text, vector, deep, std::vector<Deep>(entry, deep)};
      items.assign(entry, Item{entry, {1, 2, 3}, vector, deep});
      tree.Fill();
   }
   tree.Write();
}
#ifdef __CLING__
#pragma link C++ struct Deep+;
#pragma link C++ struct Item+;
#pragma link C++ struct Whole+;
#pragma link C++ class std::vector<Deep>+;
#pragma link C++ class std::vector<Item>+;
#pragma link C++ class std::vector<std::vector<int> >+;
#pragma link C++ class std::map<std::string,double>+;
#endif
"""
BUILD = """
ROOT.gErrorIgnoreLevel = 3000
assert ROOT.gSystem.CompileMacro(sys.argv[1], 'k')
ROOT.make(sys.argv[2])
print(json.dumps('done'))
"""


def made_by_forthwith(path):
    counts = range(1, 5)
    items = np.repeat(counts, counts)
    words = ["x" * count for count in counts]

    def record(name, **fields):
        return ak.zip(fields, depth_limit=1, with_name=name)

    def deep(numbers):
        return record("Deep", number=numbers.astype("f4"), text=["x" * number for number in numbers])

    def lists(numbers):
        return ak.values_astype(ak.Array([[number] * number for number in numbers]), "float32")

    def arrays(count):
        return np.tile(np.arange(1, 4, dtype="f4"), (count, 1))

    numbers = np.arange(1, 5)
    whole = record(
        "Whole",
        number=numbers.astype("i4"),
        array=arrays(4),
        text=words,
        list=lists(numbers),
        deep=deep(numbers),
        items=ak.unflatten(deep(items), counts),
    )
    item = record("Item", number=items.astype("i4"), array=arrays(10), list=lists(items), deep=deep(items))
    kinds = {"c": "i1", "uc": "u1", "s": "i2", "us": "u2", "i": "i4", "u": "u4", "l": "i8", "ul": "u8"}
    kinds |= {"f": "f4", "d": "f8", "half": "f4", "single": "f8"}
    columns = {
        "b": numbers % 2 == 1,
        **{name: numbers.astype(kind) for name, kind in kinds.items()},
        "fixed": np.repeat(numbers, 3).reshape(4, 3).astype("f4"),
        "jagged": ak.values_astype(ak.Array([list(range(count)) for count in counts]), "float32"),
        "text": words,
        "characters": words,
        "texts": [[word] * count for word, count in zip(words, counts, strict=True)],
        "vector": lists(numbers),
        "nested": ak.values_astype(ak.Array([[[count] * count] * count for count in counts]), "int32"),
        "map": ak.Array([[("k" * (at + 1), float(at)) for at in range(count)] for count in counts]),
        "whole": whole,
        "items": ak.unflatten(item, counts),
    }
    with forthwith.recreate(path) as file:
        file.mktree(
            "t",
            columns,
            records="class",
            jagged={"vector": "vector"},
            strings={"characters": "characters"},
            floats={"half": "float16", "single": "double32"},
        )


# `kAddressSet`: the branch had an address when C++ ROOT wrote it.
ADDRESS_SET = 0x10_0000
# Bits that every object in memory has.
IN_MEMORY = 0x300_0000
# Members that differ, and why.
ALLOWED = {
    "fBasketSeek": "where baskets are",
    "fBasketBytes": "ROOT stores small baskets as they are, forthwith those that do not shrink",
    "fZipBytes": "likewise",
    "fTotBytes": "ROOT stores offsets of fixed arrays in classes",
    "fEntryOffsetLen": "ROOT shrinks it when a basket has been written",
    "fAutoFlush": "forthwith ends a cluster with each step, ROOT has not reached the end of its first one",
    "fFlushedBytes": "likewise",
    "fOffset": "the offset of a member in memory, which ROOT finds anew for each program",
}


def flattened(value, path=""):
    """Members by their paths: what lists hold by its name, and pointers to objects that were met before not at all."""
    if isinstance(value, dict):
        if "$ref" in value:
            return {}
        return {key: one for name, inner in value.items() for key, one in flattened(inner, f"{path}.{name}").items()}
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        found = {}
        for at, item in enumerate(value):
            name = item.get("fName", at) if isinstance(item, dict) else at
            found |= flattened(item, f"{path}[{name}]")
        return found
    return {path: value}


def described(path):
    """The members of the tree in a file."""
    with forthwith.open(path) as file:
        found = flattened(file["t"].as_object.tojson())
    return {
        key: value & ~(ADDRESS_SET | IN_MEMORY) if key.endswith(".fBits") else value
        for key, value in found.items()
        # Leaves are referred to in the tree's list, and met in an order that depends on the branches.
        if not key.startswith(".fLeaves")
    }


def is_allowed(key):
    name = key.rpartition(".")[2]
    if name == "fCheckSum":
        # That of a map follows from the members that the standard library gives it.
        return key == ".fBranches.arr[map].fCheckSum"
    return name in ALLOWED


@pytest.mark.slow
def test_records_of_trees_are_those_that_root_writes(tmp_path):
    need_root()
    (tmp_path / "made.C").write_text(MADE_BY_ROOT)
    assert by_root(BUILD, tmp_path / "made.C", tmp_path / "root.root") == "done"
    made_by_forthwith(tmp_path / "ours.root")
    theirs, ours = described(tmp_path / "root.root"), described(tmp_path / "ours.root")
    assert len(theirs) > 1000
    differing = {
        key: (theirs.get(key, "absent"), ours.get(key, "absent"))
        for key in theirs.keys() | ours.keys()
        if theirs.get(key, "absent") != ours.get(key, "absent") and not is_allowed(key)
    }
    assert differing == {}, json.dumps(dict(sorted(differing.items())), indent=1, default=str)


@pytest.mark.parametrize("strings", ["object", "characters"])
def test_kinds_of_branches_of_text(tmp_path, strings):
    with forthwith.recreate(tmp_path / "text.root") as file:
        file.mktree("t", {"text": WORDS, "lists": [WORDS] * 5, "bytes": [b"ab"] * 5}, strings=strings)
    with forthwith.open(tmp_path / "text.root") as file:
        kinds = {branch.name: branch.member("fType", None) for branch in file["t"].as_object.member("fBranches")}
    text = -1 if strings == "object" else None
    assert kinds == {"text": text, "lists": 0, "bytes": text}
