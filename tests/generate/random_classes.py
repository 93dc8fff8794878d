"""Writes files of random classes with C++ ROOT: branches and keys of them, divided and compressed in every way.

    python tests/generate/random_classes.py FOLDER [SEED [CLASSES [FILES [WRITER...]]]]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``random-SEED.values.json`` is a list of what is in the files: of each branch and key its
file, name, type, and as JSON what was written and what ROOT reads. Where ROOT does not write or read it, or ends, there is a ``problem`` instead.
WRITER is a command that gets two paths: it writes the keys of the first file to the second, and prints as JSON which ones it does not write, and why.
What ROOT reads there of each key stands as ``again``, or ``refused`` says why the key is not there.
With several paths behind the first, each with the name of a branch, it writes files whose trees have this branch alone and all its entries twice, and
prints as JSON a list of what it says of each: ``refused`` is null or why it does not, ``problem`` what failed otherwise. What ROOT reads there stands
as ``twice``, or ``single`` says why there is none.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from random_layouts import Class, Layouts

HERE = pathlib.Path(__file__).parent
CODECS = [0, 101, 109, 207, 404, 505]


def defined(one):
    """The definition of a class."""
    space, _, name = one.name.rpartition("::")
    bases = ", ".join(f"public {base.name if isinstance(base, Class) else base}" for base in one.bases)
    lines = [f"struct {name}{' : ' if bases else ''}{bases} {{"]
    lines += [f"  {declared}{' //' + comment if comment else ''}" for declared, comment, *_ in one.members]
    if not one.copied and one.moved:
        lines.append(f"  {name}() = default; {name}({name} &&) = default; {name} &operator=({name} &&) = default;")
    else:
        lines.append(f"  {name}() {{}}")  # compilers do not understand the initialisers of some aggregates
    if one.virtual:
        lines += [f"  virtual ~{name}() {{}}", "  virtual void told(std::string &out) const;"]
    if one.version:
        lines.append(f"  ClassDef({name}, {one.version})")
    lines.append("};")
    if space:
        lines = [f"namespace {space} {{", *lines, "}"]
    return "\n".join(lines)


def functions(one, classes):
    """The code that makes objects of a class and tells them: declared, then defined."""
    name = one.name
    declared = [
        f"template <> struct IO<{name}> {{",
        f"  static void make({name} &v);",
        f"  static void members(const {name} &v, std::string &out);",
        f"  static void tell(const {name} &v, std::string &out) {{ out += '{{', members(v, out); if (out.back() == ',') out.back() = '}}'; else out += '}}'; }}",
        "};",
    ]
    bases = [base.name if isinstance(base, Class) else base for base in one.bases if base != "TObject"]
    lines = [f"void IO<{name}>::make({name} &v) {{", "  Deeper deeper;"]
    lines += [f"  IO<{base}>::make(v);" for base in bases]
    lines += [f"  {make}" for _, _, make, _, _ in one.members if make]
    lines += ["}", f"void IO<{name}>::members(const {name} &v, std::string &out) {{"]
    lines += [f"  IO<{base}>::members(v, out);" for base in bases]
    lines += [f"""  out += "\\"{member}\\":", {tell}, out += ',';""" for _, _, _, tell, member in one.members if tell]
    lines.append("}")
    derived = [other.name for other in classes if name in other.ancestors()] if one.virtual else []
    if len(derived) > 1:
        declared.append(f"template <> {name} *New<{name}>::make();")
        lines.append(f"template <> {name} *New<{name}>::make() {{ switch (below({len(derived)})) {{")
        for k, other in enumerate(derived):
            lines.append(f"  {f'case {k}' if k else 'default'}: {{ auto made = new {other}; rnd::make(*made); return made; }}")
        lines.append("} }")
    return declared, lines


def source(layouts, tops):
    """All C++ of one seed; ``tops`` are the types of branches and keys, each with the class of the items of a TClonesArray."""
    classes = layouts.classes
    out = [f'#include "{HERE}/random_classes_files.h"', *(text for _, text in layouts.enums)]
    out += [defined(one) for one in classes]
    out.append("namespace rnd {")
    out += [f"template <> struct Named<{name}> {{ static constexpr {name} values[] = {{ {name}::{name.lower()}a, {name}::{name.lower()}b, {name}::{name.lower()}c }}; }};" for name, _ in layouts.enums]
    pairs = [functions(one, classes) for one in classes]
    out += [line for declared, _ in pairs for line in declared]
    out += [line for _, lines in pairs for line in lines]
    objects = [one.name for one in classes if one.tobject] + ["TNamed", "TObjString"]
    same = [f"  if (v.IsA() == {name}::Class()) return IO<{name}>::{{}}(static_cast<{'{}'}{name} &>(v){{}});" for name in objects]
    out += ["void makeObject(TObject &v) {", *(line.format("make", "", "") for line in same), "}"]
    out += ["void tellObject(const TObject &v, std::string &out) {", *(line.format("tell", "const ", ", out") for line in same), '  throw std::runtime_error(v.ClassName());', "}"]
    few = objects[:: max(1, len(objects) // 4)]
    out += [f"TObject *newObject() {{ switch (below({len(few)})) {{"]
    out += [f"  {f'case {k}' if k else 'default'}: {{ auto made = new {name}; rnd::make(*made); return made; }}" for k, name in enumerate(few)]
    out += ["} }", "Held *held(int type) { switch (type) {"]
    out += [f'  {f"case {k}" if k else "default"}: return new HeldOf<{kind}>("{kind}", "{item}");' for k, (kind, item) in enumerate(tops)]
    out += ["} }", "}"]
    out += [f"void {one.name}::told(std::string &out) const {{ rnd::IO<{one.name}>::tell(*this, out); }}" for one in classes if one.virtual]
    out.append("#ifdef __ROOTCLING__")
    out += [f"#pragma link C++ class {one.name}+;" for one in classes]
    out += [f"#pragma link C++ enum {name};" for name, _ in layouts.enums]
    out += [f"#pragma link C++ class {kind}+;" for kind in layouts.types]
    out.append("#endif")
    return "\n".join(out) + "\n"


def top_types(layouts):
    """Types of branches and keys."""
    tops = [(one.name, "") for one in layouts.classes]
    tops += [(kind, "") for _ in range(len(tops)) if not (kind := layouts.used(layouts.container(3)[1])).startswith("std::unique_ptr")]
    movable = [one for one in layouts.classes if one.copied]
    for one in layouts.pick.sample(movable, len(movable) // 2):
        tops.append((layouts.used(f"std::vector<{one.name}>"), ""))
        one.sealed = True
        tops.append((layouts.used(f"std::vector<{one.name}*>"), ""))
        tops += [("TClonesArray", one.name)] if one.tobject else []
    return tops + [(kind, "") for kind in ("std::string", "TObjArray", "TList") if layouts.often(0.4)]


def apart(work):
    """The result of ``work``, which may end its process: of a process of its own."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            found = {"value": work()}
        except BaseException as error:
            found = {"problem": f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"}
        with os.fdopen(write, "w") as pipe:
            json.dump(found, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"problem": f"ROOT ends with {status}"}


def write_file(path, plan, branches, keys):
    import ROOT

    out = ROOT.rnd.Writer(str(path), plan["codec"], plan["together"], plan["flush"], plan["seed"])
    for one in branches:
        out.branch(one["number"], one["name"], one["size"], one["level"])
    out.fill(plan["entries"])
    told = [str(out.value(k)) for k in range(len(branches))]
    told += [str(out.key(one["number"], one["name"])) for one in keys]
    out.close()
    return told


def plans_of(seed, layouts, tops, count):
    """The files of a seed: for each its name, how it is written, its branches and its keys."""
    pick = layouts.pick
    for k in range(count):
        plan = {
            "codec": pick.choice(CODECS),
            "together": pick.random() < 0.5,
            "flush": pick.choice([-30000000, 3, 7, -200]),
            "seed": pick.randrange(1 << 40),
            "entries": pick.choice([1, 4, 15, 40]),
        }
        branches, keys = [], []
        for b in range(6):
            number = pick.randrange(len(tops))
            dot = "." if number < len(layouts.classes) and pick.random() < 0.5 else ""
            level = pick.choice([0, 1, 2, 99, 99])
            # Of arrays that are divided ROOT writes nothing.
            level = 0 if tops[number][0].startswith("std::array") else level
            branches.append({"name": f"b{b}{dot}", "number": number, "size": pick.choice([200, 1000, 32000]), "level": level})
        for b in range(3):
            number = pick.randrange(len(tops))
            if tops[number][0] != "std::string":
                keys.append({"name": f"k{b}", "number": number})
        yield f"random-{seed}-{k}", plan, branches, keys


def again(path, entries, writer):
    """Has the keys of a file written once more, and reads those."""
    import ROOT

    other = path.with_name(f"{path.stem}-again.root")
    refused = json.loads(subprocess.run([*writer, str(path), str(other)], check=True, stdout=subprocess.PIPE).stdout)
    for entry in entries:
        if entry["name"] in refused:
            entry["refused"] = refused[entry["name"]]
            continue
        call = lambda entry=entry: str(ROOT.rnd.readKey(str(other), entry["number"], entry["name"]))
        read = apart(call)
        entry["again"] = read.get("value", "problem: " + read.get("problem", ""))


def twice(path, entries, writer):
    """Has each branch of a file extended by its own entries, and reads it."""
    import ROOT

    others = [path.with_name(f"{path.stem}-twice-{at}.root") for at in range(len(entries))]
    pairs = [word for other, entry in zip(others, entries) for word in (str(other), entry["name"])]
    if not entries:
        return
    done = subprocess.run([*writer, str(path), *pairs], check=False, stdout=subprocess.PIPE)
    ended = {"problem": f"the writer ends with {done.returncode}"}
    told = [ended] * len(entries) if done.returncode else json.loads(done.stdout)
    for entry, other, said in zip(entries, others, told, strict=True):
        if "problem" in said:
            entry["twice"] = "problem: " + said["problem"]
        elif said["refused"] is not None:
            entry["single"] = said["refused"]
        else:
            call = lambda entry=entry, other=other: str(ROOT.rnd.readBranch(str(other), entry["number"], entry["name"]))
            read = apart(call)
            entry["twice"] = read.get("value", "problem: " + read.get("problem", ""))


def files_of(folder, tops, plans, writer):
    """Writes the files, and gives what is in them."""
    import ROOT

    found = []
    for name, plan, branches, keys in plans:
        path = folder / f"{name}.root"
        told = apart(lambda path=path, plan=plan, branches=branches, keys=keys: write_file(path, plan, branches, keys))
        lots = [(path, branches, keys, told)]
        if "problem" in told:  # of one of them: each in a file of its own
            lots = []
            for one in branches + keys:
                path = folder / f"{name}-{one['name'].strip('.')}.root"
                mine = ([one], []) if one in branches else ([], [one])
                lots.append((path, *mine, apart(lambda path=path, plan=plan, mine=mine: write_file(path, plan, *mine))))
        for path, some, others, told in lots:
            begin = len(found)
            for at, one in enumerate(some + others):
                entry = {"file": path.name, **plan, **one, "type": " of ".join(filter(None, tops[one["number"]])), "is_key": one in others}
                if "problem" in told:
                    entry["problem"] = "not written: " + told["problem"]
                else:
                    call = ROOT.rnd.readKey if one in others else ROOT.rnd.readBranch
                    read = apart(lambda call=call, path=path, one=one: str(call(str(path), one["number"], one["name"])))
                    entry["written"] = told["value"][at]
                    entry.update({"problem": "not read: " + read["problem"]} if "problem" in read else {"read": read["value"]})
                found.append(entry)
            if writer and "problem" not in told:
                sound = [entry for entry in found[begin:] if "problem" not in entry]
                again(path, [entry for entry in sound if entry["is_key"]], writer)
                twice(path, [entry for entry in sound if not entry["is_key"]], writer)
    return found


def make(folder, name, layouts, tops, plans, writer=()):
    """Compiles the classes, and makes files of them and ``NAME.values.json``."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kError
    ROOT.gEnv.SetValue("Root.Stacktrace", "no")  # a process that ends is told of
    folder = pathlib.Path(folder).absolute()
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / f"{name.replace('-', '_')}.C"
        macro.write_text(source(layouts, tops))
        ROOT.gSystem.SetFlagsDebug("-O0")
        if ROOT.gROOT.LoadMacro(f"{macro}+g") != 0:
            raise SystemExit("the classes do not compile")
        found = files_of(folder, tops, plans, writer)
    (folder / f"{name}.values.json").write_text("[\n" + ",\n".join(json.dumps(one) for one in found) + "\n]\n")


def main(folder, seed=1, classes=12, files=6, *writer):
    """Makes the files of one seed."""
    layouts = Layouts(seed, classes)
    tops = top_types(layouts)
    make(folder, f"random-{seed}", layouts, tops, plans_of(seed, layouts, tops, files), writer)


if __name__ == "__main__":
    import script

    script.run(main, *sys.argv[1:2], *map(int, sys.argv[2:5]), *sys.argv[5:])
