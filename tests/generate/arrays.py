"""Writes tests/data/arrays-*.root with C++ ROOT: arrays of text, containers and pointers in classes, arrays that a member counts, `std::array`
within containers and pairs, and enumerations within containers; member by member and not.

    python tests/generate/arrays.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``arrays.values.json`` is what ROOT reads of each branch and key.
"""

import json

import script
from random_classes import make
from random_layouts import Class, Layouts

# Members of the class `Arrays`: type, dimensions, comment.
MEMBERS = [
    *(("std::string", "[2]", ""), ("TString", "[2][1]", ""), ("Double32_t", "[1][2][1]", "[-100,100]"), ("Float16_t", "[2][2]", "")),
    *(("std::vector<int>", "[2]", ""), ("std::vector<Leaf>", "[1][2]", ""), ("std::map<int,float>", "[2]", ""), ("Leaf", "[2][1]", "")),
    *(("Leaf *", "[3]", ""), ("Numbered *", "[2]", ""), ("Small", "[2]", ""), ("std::array<TString,2>", "", ""), ("std::array<std::vector<int>,2>", "", "")),
    *(("std::vector<Small>", "", ""), ("std::vector<std::vector<Small>>", "", ""), ("std::map<Small,Large>", "", ""), ("std::vector<Large>", "", "")),
    *(("std::vector<std::array<std::string,2>>", "", ""), ("std::map<int,std::array<TString,2>>", "", ""), ("std::vector<std::array<float,3>>", "", "")),
    *(("std::pair<std::array<std::string,2>,int>", "", ""), ("std::map<int,std::vector<Leaf>>", "", "")),
]
# The classes of branches and keys, beside `Arrays`.
TYPES = [
    *("std::array<std::vector<int>,2>", "std::array<std::array<TString,2>,1>", "std::array<Leaf,2>"),
    *("std::pair<std::string,Leaf>", "std::pair<int,std::array<std::vector<int>,2>>", "std::pair<int,std::array<float,2>>"),
    *("std::vector<std::array<int,2>>", "std::vector<std::array<Leaf,2>>", "std::map<int,std::array<float,2>>", "std::map<std::string,Small>"),
]


def layouts():
    """The classes."""
    made = Layouts(1, 0)
    made.enums = [
        ("Small", "enum Small { smalla = -7, smallb = 1, smallc = 100000 };"),
        ("Large", "enum class Large : unsigned int { largea = 0, largeb = 3000000000u, largec = 4 };"),
    ]
    leaf, numbered, arrays = Class("Leaf", virtual=True), Class("Numbered", bases=["TObject"], virtual=True, version=3), Class("Arrays")
    made.classes = [leaf, numbered, arrays]
    made.add(leaf, "int")
    made.add(numbered, "float")
    counter = made.add(arrays, "int", make="@ = rnd::below(4);")
    for kind, dimensions, comment in MEMBERS:
        if kind.startswith("std::") and kind != "std::string":
            made.used(kind)
        if comment:
            made.add(arrays, kind, comment, dimensions, "rnd::ranged(@, -100, 100);")
        else:
            made.add(arrays, kind, "", dimensions)
    for kind in ("float", "Double32_t"):
        fill = f"for (auto &one : @) one = rnd::counted<{kind}>(v.{counter});"
        made.add(arrays, f"{kind} *", f"[{counter}]", "[2]", fill, f"rnd::manyTold<{kind}>(@, v.{counter}, out)")
    made.add(arrays, "Leaf *", f"[{counter}]", "", f"@ = rnd::counted<Leaf>(v.{counter});", f"rnd::told(@, v.{counter}, out)")
    return made


def main(folder):
    made = layouts()
    tops = [("Arrays", "")] + [(made.used(kind), "") for kind in TYPES]
    plans = []
    for together in (False, True):
        plan = {"codec": 505, "together": together, "flush": -30000000, "seed": 5, "entries": 3}
        branches = [{"name": f"b{k}", "number": k, "size": 16000, "level": 0} for k in range(len(tops))]
        branches += [{"name": f"split{k}.", "number": k, "size": 16000, "level": 99} for k in range(1)]
        keys = [{"name": f"k{k}", "number": k} for k in range(len(tops))]
        plans.append(("arrays-together" if together else "arrays-apart", plan, branches, keys))
    make(folder, "arrays", made, tops, plans)
    path = folder / "arrays.values.json"
    read = [{name: value for name, value in entry.items() if name != "written"} for entry in json.loads(path.read_text())]
    path.write_text("[\n" + ",\n".join(map(json.dumps, read)) + "\n]\n")


if __name__ == "__main__":
    script.run(main, script.folder())
