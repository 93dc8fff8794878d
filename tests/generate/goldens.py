"""Writes ``<file>.golden.json`` for the files of a folder, from what C++ ROOT reads back from them.

    python goldens.py FOLDER [NAME ...]             write goldens into FOLDER
    python goldens.py --check FOLDER COMMITTED      compare the goldens of two folders

The values are those that C++ ROOT returned through ``walk.h``, with no Python reader in between. Then uproot reads
every column as well; ``agreed_by`` names who returned the same values, ``uproot_differs`` and ``uproot_fails``
say what it did instead.
"""
import hashlib
import json
import os
import re
import sys

import awkward as ak
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(here))
import canonical  # noqa: E402

# ------------------------------------------------------------------ from the canonical stream to an array


class Decoder:
    """Builds the Awkward Array of a type from its canonical stream."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def line(self):
        end = self.data.index(b"\n", self.at)
        words = self.data[self.at : end].decode().split(" ", 1)
        self.at = end + 1
        return words

    def take(self, dtype, n):
        out = np.frombuffer(self.data, dtype, n, self.at)
        self.at += out.nbytes
        return out

    def lists(self, n):
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(self.take("<u8", n), out=offsets[1:])
        return offsets

    def node(self, kind):
        """Layout of one node; ``kind`` is a parsed type."""
        head, *rest = self.line()
        n = 0 if head == "Z" else int(rest[0].split(" ")[1 if head == "P" else 0])
        if kind[0] == "string":
            offsets = self.lists(n) if n else np.zeros(1, np.int64)
            chars = ak.contents.NumpyArray(self.take("u1", offsets[-1]), parameters={"__array__": "char"})
            return ak.contents.ListOffsetArray(ak.index.Index64(offsets), chars, parameters={"__array__": "string"})
        if kind[0] == "list":
            offsets = self.lists(n) if n else np.zeros(1, np.int64)
            content = self.node(kind[2]) if n else nothing(kind[2])
            if kind[1] is not None:
                return ak.contents.RegularArray(content, kind[1], zeros_length=n)
            return ak.contents.ListOffsetArray(ak.index.Index64(offsets), content)
        if kind[0] == "record":
            contents = []
            for _ in range(int(rest[0].split(" ")[1]) if n else 0):
                self.line()
                contents.append(self.node(kind[1][len(contents)][1]))
            return ak.contents.RecordArray(contents or [nothing(k) for _, k in kind[1]], [f for f, _ in kind[1]], length=n)
        if kind[0] == "tuple":
            contents = [self.node(slot) if n else nothing(slot) for slot in kind[1]]
            return ak.contents.RecordArray(contents, None, length=n)
        if kind[0] == "option":
            there = self.take("i1", n)
            content = self.node(kind[1]) if n else nothing(kind[1])
            rows = np.where(there == 1, np.cumsum(there) - 1, -1).astype(np.int64)
            return ak.contents.IndexedOptionArray(ak.index.Index64(rows), content)
        return ak.contents.NumpyArray(self.take(kind[0], n))


def nothing(kind):
    return Decoder(b"Z\n").node(kind)


def slot_end(text, at):
    """Where the type that begins at a place within a record or a tuple ends."""
    depth = 0
    while depth or text[at] not in ",})":
        depth += {"{": 1, "}": -1, "(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def parse(text):
    """Parsed form of a type string.

    (name,), ("list", size or None, item), ("record", [(name, type) ...]), ("tuple", [type ...]) or ("option", type).
    """
    if text.startswith("{"):
        fields, at = [], 1
        while text[at] != "}":
            at += text.startswith(", ", at) * 2
            name = re.compile(r'"([^"]*)": ').match(text, at)
            at = slot_end(text, name.end())
            fields.append((name[1], parse(text[name.end() : at])))
        return ("record", fields)
    if text.startswith("("):
        slots, at = [], 1
        while text[at] != ")":
            at += text.startswith(", ", at) * 2
            stop = slot_end(text, at)
            slots.append(parse(text[at:stop]))
            at = stop
        return ("tuple", slots)
    if text.startswith("?"):
        return ("option", parse(text[1:]))
    dims = re.match(r"(var|\d+) \* ", text)
    if dims:
        return ("list", None if dims[1] == "var" else int(dims[1]), parse(text[dims.end() :]))
    return (text,)


def array_of(answer):
    import ctypes

    data = ctypes.string_at(answer.address(), answer.size())
    decoder = Decoder(data)
    array = ak.Array(decoder.node(parse(str(answer.type))))
    assert decoder.at == len(data)
    assert b"".join(canonical.stream(array)) == data, "the C++ and the Python stream are not the same"
    return array


# ------------------------------------------------------------------ trees

# Columns that C++ ROOT writes and then reads back wrong: the file, the tree, the column, and the tree of the file that
# has the same values and is read right. ROOT leaves the fixed dimension out when it works out the offsets of x[n][3].
MISREAD = {("layout.root", tree, "y"): "clusters" for tree in ("offsetmap", "embedded_offsetmap")}

LEAF = {
    "Char_t": "char", "UChar_t": "unsigned char", "Short_t": "short", "UShort_t": "unsigned short", "Int_t": "int", "UInt_t": "unsigned int",
    "Long64_t": "Long64_t", "ULong64_t": "ULong64_t", "Long_t": "long", "ULong_t": "unsigned long", "Float_t": "float", "Double_t": "double",
    "Float16_t": "float", "Double32_t": "double", "Bool_t": "bool",
}  # fmt: skip


# Members that count the items of others: stored as unsigned numbers, declared as signed ones.
COUNTERS = {"n", "nPoints"}


def unsigned_counters(array):
    """An array with its records' counters as they are stored."""

    def change(layout, **_):
        if not layout.is_record or not COUNTERS.intersection(layout.fields):
            return None
        contents = [ak.transform(change, content, highlevel=False) for content in layout.contents]
        for at, name in enumerate(layout.fields):
            if name in COUNTERS and contents[at].dtype == np.int32:
                contents[at] = ak.contents.NumpyArray(contents[at].data.view(np.uint32))
        return ak.contents.RecordArray(contents, layout.fields, length=layout.length)

    return ak.transform(change, array)


def dims_of(leaf):
    """The fixed dimensions in a leaf's title; those that name another leaf are its counter."""
    brackets = re.findall(r"\[([^\]]*)\]", re.sub(r"/[a-zA-Z](\[[^\]]*\])?$", "", leaf.GetTitle()))
    return [int(b) for b in brackets if b.isdigit()]


def leaf_array(ROOT, leaf):
    kind = leaf.GetTypeName()
    if leaf.IsA().GetName() == "TLeafC":
        return array_of(ROOT.walk.readText(leaf))
    if kind not in LEAF:
        raise NotImplementedError(f"leaf type {kind}")
    return array_of(ROOT.walk.readLeaf[LEAF[kind]](leaf, ROOT.std.vector["int"](dims_of(leaf))))


def plain_branch(ROOT, branch):
    leaves = list(branch.GetListOfLeaves())
    if len(leaves) == 1:
        return leaf_array(ROOT, leaves[0])
    return ak.zip({leaf.GetName(): leaf_array(ROOT, leaf) for leaf in leaves}, depth_limit=1)


def object_branch(ROOT, branch):
    name = branch.GetClassName()
    if name == "TClonesArray":
        return array_of(ROOT.walk.readClones["Track"](branch))
    return array_of(ROOT.walk.readObject[name](branch))


def slot(array, name):
    """What a part of a pair is called: maps are lists of tuples."""
    return {"first": "0", "second": "1"}.get(name, name) if ak.fields(array) == ["0", "1"] else name


def project(ROOT, array, top, path):
    """The part of a whole object that a split branch holds; a segment that names a class is that base class."""
    before = top
    for segment in path:
        name = re.sub(r"\[.*", "", segment)
        for prefix in (before.rstrip(".") + ".", top.rstrip(".") + "."):
            if name.startswith(prefix):
                name = name[len(prefix) :]
                break
        if name.split(".")[0] in ("first", "second"):  # of a map, or of a pair in one
            *outer, name = name.split(".")
            for part in outer:
                array = array[slot(array, part)]
            name = slot(array, name)
        name = name.rsplit(".", 1)[-1]
        if name in ak.fields(array):
            array = array[name]
        elif name in ("fUniqueID", "fBits"):
            raise NotImplementedError("member of TObject, which ROOT changes while it reads")
        else:
            array = array[[m.GetName() for m in ROOT.TClass.GetClass(name).GetListOfDataMembers()]]
        before = re.sub(r"\[.*", "", segment)
    return array


def branches(ROOT, tree):
    """(path, branch, array or None for a group, reason for no array) of each branch of a tree."""

    def below(branch, path):
        for sub in branch.GetListOfBranches():
            yield path + [sub.GetName()], sub
            yield from below(sub, path + [sub.GetName()])

    for top in list(tree.GetListOfBranches()):
        name = top.GetName()
        subs = list(below(top, [name]))
        try:
            whole = plain_branch(ROOT, top) if top.IsA().GetName() == "TBranch" else object_branch(ROOT, top)
            why = None
        except NotImplementedError as err:
            whole, why = None, str(err)
        yield [name], top, None if subs else whole, why, bool(subs)
        for path, sub in subs:
            if sub.GetListOfBranches().GetEntries():
                yield path, sub, None, None, True
                continue
            try:
                yield path, sub, project(ROOT, whole, name, path[1:]), why, False
            except NotImplementedError as err:
                yield path, sub, None, str(err), False


def clear(value):
    """A value as JSON can hold it: numbers that are not finite become text."""
    if isinstance(value, dict):
        return {k: clear(v) for k, v in value.items()}
    if isinstance(value, list):
        return [clear(v) for v in value]
    if isinstance(value, str):  # bytes that are not UTF-8 arrive as surrogates, which cannot be written
        return value.encode(errors="replace").decode()
    if isinstance(value, np.generic):
        value = value.item()
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def head(array, limit=160):
    """The first values for a person to look at; nothing compares them."""
    out = []
    for item in array[:4]:
        item = clear(item.to_list() if hasattr(item, "to_list") else item)
        text = json.dumps(item)
        out.append(item if len(text) <= limit else text[:limit] + " ...")
    return out


def column(branch, array, why, peer, embedded):
    out = {}
    if array is not None:
        out = {"type": canonical.type_of(array), "entries": len(array), "sha256": canonical.digest(array), "head": head(array), "agreed_by": ["root"]}
        if branch.ClassName() != "TBranch":
            with_counters(out, array)
    elif why:
        out = {"root_fails": why}
    baskets = [branch.GetBasketSeek(k) for k in range(branch.GetWriteBasket() + 1)]
    stored = sum(s != 0 for s in baskets)
    out["baskets"] = {"stored": stored, "embedded": embedded} if embedded else {"stored": stored}
    if branch.GetFirstEntry():
        out["first_entry"] = int(branch.GetFirstEntry())
    if peer is None:
        return out
    try:
        out["typename"] = peer.typename
        theirs = peer.array()
        digest, kind = canonical.digest(theirs), canonical.type_of(theirs)
    except Exception as err:  # what it raises is part of the record
        out["uproot_fails"] = f"{type(err).__name__}: {str(err).strip()}".split("\n")[0][:200]
        return out
    if array is None:
        out.update(type=kind, entries=len(theirs), sha256=digest, head=head(theirs), agreed_by=["uproot"])
    elif digest == out["sha256"]:
        out["agreed_by"].append("uproot")
    elif getattr(branch, "GetStreamerType", int)() == 6:
        # kCounter: the counter of an array member: stored as an unsigned number, declared as a signed one.
        out["agreed_by"].append("uproot (as unsigned)")
        out["also_accepted"] = {"type": kind, "sha256": digest}
    else:
        out["uproot_differs"] = {"type": kind, "entries": len(theirs), "head": head(theirs)}
    return out


def with_counters(out, array):
    """A golden that accepts counters as they are stored, too."""
    other = unsigned_counters(array)
    digest = canonical.digest(other)
    if digest != out["sha256"]:
        out["also_accepted"] = {"type": canonical.type_of(other), "sha256": digest}


def tree_record(ROOT, file, tree, peer, peer_failure):
    out = {"class": tree.ClassName(), "title": tree.GetTitle(), "entries": int(tree.GetEntries()), "columns": {}}
    out["clusters"] = clusters(tree)
    if tree.GetListOfAliases():
        out["aliases"] = {a.GetName(): a.GetTitle() for a in tree.GetListOfAliases()}
    if tree.GetUserInfo() and tree.GetUserInfo().GetEntries():
        out["user_info"] = [[o.ClassName(), o.GetName()] for o in tree.GetUserInfo()]
    if tree.GetListOfFriends():
        out["friends"] = [[e.GetName(), e.GetTitle()] for e in tree.GetListOfFriends()]
    groups = []
    embedded = embedded_baskets(tree)  # before reading brings others into memory
    for path, branch, array, why, group in branches(ROOT, tree):
        name = "/".join(path)
        if group:
            groups.append(name)
            continue
        try:
            its = peer_branch(peer, path) if peer is not None else None
        except Exception:
            its = None
        other = MISREAD.get((os.path.basename(file.GetName()), tree.GetName(), name))
        misread = array
        if other:
            array = plain_branch(ROOT, file.Get(other).GetBranch(name))[: len(misread)]
        record = column(branch, array, why, its, embedded[str(branch.GetFullName())])
        if other:
            assert canonical.digest(misread) != record["sha256"], "read right after all"
            record["agreed_by"] = ["written"] + record["agreed_by"][1:]
            record["root_differs"] = {"head": head(misread), "why": "leaves the fixed dimension out of the offsets it works out"}
        out["columns"][name] = record
    if groups:
        out["groups"] = groups
    if peer_failure:
        out["uproot_fails"] = peer_failure
    return out


def peer_branch(peer, path):
    """uproot's branch at a path; names may hold a slash, so no path is joined."""
    for name in path:
        (peer,) = [b for b in peer.branches if b.name == name]
    return peer


def embedded_baskets(branch):
    out = {}
    for sub in branch.GetListOfBranches():
        out[str(sub.GetFullName())] = sub.GetListOfBaskets().GetEntries()
        out.update(embedded_baskets(sub))
    return out


def clusters(tree):
    """Where the clusters begin, and the end of the last."""
    steps, it = [], tree.GetClusterIterator(0)
    start = it()
    while start < tree.GetEntries() and len(steps) < 1000:
        steps.append(int(start))
        start = it()
    return steps + [int(tree.GetEntries())]


# ------------------------------------------------------------------ files


def sha_f8(values):
    return hashlib.sha256(np.ascontiguousarray(values, "<f8").tobytes()).hexdigest()


def histogram(h):
    """Bin contents with flow bins, in C order with x as the slowest axis, and the edges."""
    axes = [h.GetXaxis(), h.GetYaxis(), h.GetZaxis()][: h.GetDimension()]
    shape = [a.GetNbins() + 2 for a in axes]
    values = np.array([h.GetBinContent(k) for k in range(int(np.prod(shape)))]).reshape(shape[::-1]).T
    edges = [np.array([a.GetBinLowEdge(k) for k in range(1, a.GetNbins() + 2)]) for a in axes]
    return {
        "shape_with_flow": shape,
        "values_f8_sha256": sha_f8(values),
        "values_head": values.ravel()[:6].tolist(),
        "axes": [{"n": a.GetNbins(), "edges_f8_sha256": sha_f8(e)} for a, e in zip(axes, edges)],
    }


def walk_keys(directory, prefix=""):
    for key in directory.GetListOfKeys():
        name = f"{prefix}{key.GetName()};{key.GetCycle()}"
        yield name, key
        if key.IsFolder() and key.GetClassName().startswith("TDirectory"):
            yield from walk_keys(key.ReadObj(), prefix + key.GetName() + "/")


def golden(ROOT, path):
    import uproot

    file = ROOT.TFile(path)
    peer = uproot.open(path)
    out = {
        "file": os.path.basename(path),
        "format": "root",
        "made_with": {"root": ROOT.gROOT.GetVersion(), "uproot": uproot.__version__},
        "compression_setting": file.GetCompressionSettings(),
        "keys": [],
        "trees": {},
        "objects": {},
    }
    latest = set()
    for name, key in walk_keys(file):
        # In the file a directory is a TDirectory; ROOT gives it the name of the class that it makes of it.
        out["keys"].append([name, re.sub("^TDirectoryFile$", "TDirectory", key.GetClassName())])
        bare = name.rsplit(";", 1)[0]
        if bare in latest:  # an older cycle
            continue
        latest.add(bare)
        cls = ROOT.TClass.GetClass(key.GetClassName())
        if cls.InheritsFrom("TTree"):
            its, failure = None, None
            try:
                its = peer[name]
            except Exception as err:
                failure = f"{type(err).__name__}: {str(err).strip()}".split("\n")[0][:200]
            tree = key.ReadObj()
            out["trees"][bare] = tree_record(ROOT, file, tree, its, failure)
        elif cls.InheritsFrom("TH1"):
            out["objects"][name] = {"class": key.GetClassName(), "hist": histogram(key.ReadObj())}
        elif cls.InheritsFrom("TNamed") and not cls.InheritsFrom("TDirectory"):
            obj = key.ReadObj()
            out["objects"][name] = {"class": key.GetClassName(), "name": str(obj.GetName()), "title": str(obj.GetTitle())}
        elif cls.InheritsFrom("TObjString"):
            out["objects"][name] = {"class": key.GetClassName(), "string": str(key.ReadObj().GetString())}
    try:
        theirs = sorted([k, peer.classname_of(k)] for k in peer.keys())
        ours = sorted(out["keys"])
        out["keys_agreed_by"] = ["root"] + ["uproot"] * (theirs == ours)
    except Exception as err:
        out["keys_agreed_by"] = ["root"]
        out["uproot_keys_fail"] = f"{type(err).__name__}: {str(err).strip()}".split("\n")[0][:200]
    return out


def text_of(value, indent="", width=150):
    """JSON with one line for what fits on a line, so that a difference between two goldens can be read."""
    short = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(short) + len(indent) <= width or not isinstance(value, (dict, list)) or (isinstance(value, dict) and "sha256" in value):
        return short
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(k, ensure_ascii=False)}: {text_of(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inner + i for i in items) + "\n" + indent + "}"
    return "[\n" + ",\n".join(inner + text_of(v, inner) for v in value) + "\n" + indent + "]"


def write(folder, names):
    import warnings

    warnings.simplefilter("ignore")
    import ROOT
    from make import load

    load(os.path.abspath(folder), "classes")
    ROOT.gInterpreter.Declare(f'#include "{here}/walk.h"')
    os.chdir(folder)  # where a file may name another one
    for name in names or sorted(f for f in os.listdir(".") if f.endswith(".root")):
        if name.endswith("-branch.root"):  # holds baskets of another file and nothing of its own
            continue
        record = golden(ROOT, name)
        with open(name + ".golden.json", "w") as out:
            out.write(text_of(record) + "\n")
        peer_not = [f"{t}:{c}" for t, r in record["trees"].items() for c, v in r["columns"].items() if "uproot" not in v.get("agreed_by", [])]
        print(name, sum(len(r["columns"]) for r in record["trees"].values()), "columns;", len(peer_not), "not read alike by uproot", *peer_not)


def check(folder, committed):
    failed = 0
    for name in sorted(f for f in os.listdir(committed) if f.endswith(".golden.json")):
        try:
            with open(os.path.join(folder, name)) as a, open(os.path.join(committed, name)) as b:
                fresh, kept = json.load(a), json.load(b)
        except FileNotFoundError:
            print(name, "was not made")
            failed += 1
            continue
        if fresh != kept:
            failed += 1
            for key in sorted(set(fresh) | set(kept)):
                if fresh.get(key) != kept.get(key):
                    print(name, "differs in", key)
    print(f"{failed} goldens differ" if failed else "all goldens are as committed")
    return failed


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(1 if check(*sys.argv[2:]) else 0)
    write(sys.argv[1], sys.argv[2:])
