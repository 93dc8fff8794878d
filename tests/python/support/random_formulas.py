"""Random formulas as aliases of a tree, computed by forthwith and by C++ ROOT's TTreeFormula.

``python tests/python/support/random_formulas.py 1 2000`` compares that many formulas from a seed on.
"""

import json
import math
import pathlib
import random
import sys
import tempfile

import root_judge

import forthwith

# Writes a tree of all kinds of numbers with the formulas as aliases, and what TTreeFormula makes of each.
SCRIPT = r"""
import array, random, ROOT
ROOT.gErrorIgnoreLevel = ROOT.kFatal
path, seed, texts = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3]))
chance = random.Random(seed)
CODES = {"c": ("b", "B"), "C": ("B", "b"), "s": ("h", "S"), "S": ("H", "s"), "i": ("i", "I"), "I": ("I", "i"),
         "l": ("q", "L"), "f": ("f", "F"), "d": ("d", "D"), "o": ("b", "O")}
LIMITS = {"b": (-128, 127), "B": (0, 255), "h": (-2**15, 2**15 - 1), "H": (0, 2**16 - 1), "i": (-2**31, 2**31 - 1),
          "I": (0, 2**32 - 1), "q": (-2**53, 2**53)}

def value(code):
    if code in "fd":
        return chance.choice([0.0, -0.0, 0.5, -2.75, 1e3, 3.0, chance.uniform(-9, 9)])
    low, high = LIMITS[code]
    return chance.choice([low, high, 0, 1, chance.randint(max(low, -9), 9)])

file = ROOT.TFile(path, "recreate")
tree = ROOT.TTree("t", "")
places = {}
for name, (code, leaf) in CODES.items():
    places[name] = array.array(code, [0])
    tree.Branch(name, places[name], f"{name}/{leaf}")
count = array.array("i", [0])
tree.Branch("n", count, "n/I")
for name, code, leaf in (("v", "f", "F"), ("w", "i", "I"), ("b", "h", "S")):
    places[name] = array.array(code, [0] * 4)
    tree.Branch(name, places[name], f"{name}[n]/{leaf}")
places["m"] = array.array("d", [0.0] * 6)
tree.Branch("m", places["m"], "m[2][3]/D")
text = bytearray(8)
tree.Branch("t", text, "t/C")
for entry in range(12):
    for place in places.values():
        for at in range(len(place)):
            place[at] = value(place.typecode)
    places["o"][0] = chance.randint(0, 1)
    count[0] = entry % 4
    word = chance.choice([b"mu", b"muon", b"e", b""])
    text[: len(word) + 1] = word + b"\0"
    tree.Fill()
for at, formula in enumerate(texts):
    tree.SetAlias(f"a{at}", formula)
tree.Write()
found = []
for formula in texts:
    made = ROOT.TTreeFormula("formula", formula, tree)
    rows = None if made.GetNdim() == 0 else []
    for entry in range(tree.GetEntries() if rows is not None else 0):
        tree.LoadTree(entry)
        count = made.GetNdata()
        rows.append([made.EvalInstance(at) for at in range(count)])
    found.append(rows)
print(json.dumps(found))
"""

SCALARS = ("c", "C", "s", "S", "i", "I", "l", "f", "d", "o", "n")
LISTS = ("v", "w", "b")
FUNCTIONS = (
    "sqrt", "log", "log10", "exp", "sin", "cos", "atan", "asin", "acos", "acosh", "atanh", "tanh", "abs", "sign", "sq",
    "floor", "ceil", "TMath::Abs", "TMath::Sqrt", "TMath::Log", "TMath::Floor", "TMath::Erf", "TMath::Erfc",
    "TMath::ASin", "TMath::Ceil", "!",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
BINARY = ("min", "max", "atan2", "fmod", "TMath::Min", "TMath::Max", "TMath::Hypot", "TMath::Sign")


def formula(chance, depth, lists):
    """A formula, in which columns of lists and of single numbers may stand."""
    if depth == 0 or chance.random() < 0.1:
        kind = chance.random()
        if kind < 0.25:
            return chance.choice(("0", "1", "2", "3", "0.5", "2.5", "1e2"))
        if kind < 0.35:
            return chance.choice(
                ("m[0][1]", "m[1][2]", "Length$(v)", "Entry$", "LocalEntry$", "TMath::Pi()", 't=="mu"')
            )
        if kind < 0.4:
            return 'strstr(t, "mu")'
        if lists and kind < 0.75:
            return chance.choice((*LISTS, *LISTS, "Iteration$", "Length$"))
        return chance.choice(SCALARS)

    def inner(lists=lists):
        return formula(chance, depth - 1, lists)

    def bracketed(lists=lists):
        return f"({inner(lists)})"

    kind = chance.random()
    if kind < 0.5:
        operands = [inner() if chance.random() < 0.5 else bracketed() for _ in range(chance.choice((2, 2, 3)))]
        text = operands[0]
        for operand in operands[1:]:
            text += chance.choice(OPERATORS) + operand
        return text
    if kind < 0.7:
        return f"{chance.choice(FUNCTIONS)}({inner()})"
    if kind < 0.76:
        return f"{chance.choice(BINARY)}({inner()},{inner()})"
    if kind < 0.8:
        return f"({chance.choice((*SCALARS, 'd*2.5', 'f-3'))}%{chance.choice(('2', '7', '2.9'))})"
    if kind < 0.83:
        return f"(int({chance.choice(SCALARS)}){chance.choice(('&', '|'))}{chance.choice(('1', '6', '12.7'))})"
    if kind < 0.86:
        return f"({chance.choice(('n', 'C', 'S'))}{chance.choice(('<<', '>>'))}{chance.choice('123')})"
    if kind < 0.89:
        return f"-{inner()}"
    if kind < 0.93:
        return f"({chance.choice(('c', 'f', 'd'))}^{chance.choice(('2', '3', '0.5'))})"
    if kind < 0.97:
        by = chance.choice(("Sum$", "Min$", "Max$"))
        return f"{by}({chance.choice(LISTS)}{chance.choice(('', '*2', '>0', '*(Iteration$<2)', '-w'))})"
    return chance.choice(("MinIf$(v,w>0)", "MaxIf$(w,v<1)", "Alt$(v[1],-1)", "Alt$(w[0],d)", "Sum$(m)", "Max$(m[1])"))


def is_same(ours, theirs):
    """Whether numbers are equal; where C's library is not exact, to its last digits."""
    ours = float(ours)
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=1e-14)


def differences(seed, count):
    """The formulas that forthwith computes otherwise, with both values, and how many could be compared."""
    chance = random.Random(seed)
    texts = [formula(chance, chance.choice((1, 2, 3)), chance.random() < 0.5) for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        path, listed = pathlib.Path(folder) / "formulas.root", pathlib.Path(folder) / "texts.json"
        listed.write_text(json.dumps(texts))
        answer = root_judge.by_root(SCRIPT, str(path), str(seed), str(listed))
        with forthwith.open(f"{path}:t") as tree:
            return compared(tree, texts, answer)


def compared(tree, texts, answer):
    """The same, of what C++ ROOT answered."""
    wrong, number = [], 0
    for at, (text, rows) in enumerate(zip(texts, answer, strict=True)):
        if rows is None:
            continue
        try:
            ours = tree.arrays([f"a{at}"], how=tuple)[0].to_list()
        except forthwith.ForthwithError as error:
            # Comparisons in a row, which TFormula splits by their order, and Alt$, which means the first item only.
            if "in brackets" in str(error) or "Alt$ beside lists" in str(error):
                continue
            wrong.append((text, str(error), rows))
            continue
        number += 1
        for value, row in zip(ours, rows, strict=True):
            mine = [] if value is None else value if isinstance(value, list) else [value]
            if len(mine) != len(row) or not all(map(is_same, mine, row)):
                wrong.append((text, mine, row))
                break
    return wrong, number


if __name__ == "__main__":
    found, number = differences(int(sys.argv[1]), int(sys.argv[2]))
    for text, ours, theirs in found:
        print(f"{text}\n    ours   {ours}\n    theirs {theirs}")
    print(len(found), "of", number, "differ")
