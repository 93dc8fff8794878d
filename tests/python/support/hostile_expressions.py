"""Expressions that mean no good: random tokens, expressions that were damaged, nested, repeated and made long.

``python hostile_expressions.py SEED COUNT`` asks that many of a tree, as columns, cuts and aliases. An answer is an
array of the right length or an error of ours, soon and in little memory; anything else is told.
"""

import pathlib
import random
import resource
import sys
import time

import awkward as ak

import forthwith

COLUMNS = ["nMuon", "Muon_pt", "Muon_eta", "MET_pt", "run", "event", "Muon_charge", "none", "x.y", "`a/b`", "Muon"]
NUMBERS = [
    "0",
    "1",
    "-1",
    "2.5",
    "1e308",
    "1e999",
    "inf",
    "nan",
    "0x7f",
    "9223372036854775808",
    "1_0",
    "1__0",
    "1e",
    "007",
]
OPERATORS = [*"+-*/%<>&|^~", "//", "**", "<=", ">=", "==", "!=", "and", "or", "not", "<<", ">>"]
SIGNS = [*OPERATORS, *"!?:,()[].$@;='\"`\\\0é\t", "&&", "||", "->", "::"]
CALLS = [
    "sum",
    "any",
    "max",
    "first",
    "count",
    "where",
    "item",
    "sqrt",
    "int8",
    "uint64",
    "bool",
    "Sum$",
    "TMath::Abs",
    "np.log",
]
WORDS = ["'text'", '""', "''", "True", "None", "lambda", "axis=-1", "axis=9999999999999999999", "Length$", "🙂"]
# Longer ones are refused, which is tried by the way.
LONGEST = 70_000


def grown(chance, depth):
    """An expression that may be one."""
    if depth == 0 or chance.random() < 0.25:
        return chance.choice(chance.choice((COLUMNS, COLUMNS, NUMBERS, WORDS)))
    inner = [grown(chance, depth - 1) for _ in range(3)]
    return chance.choice(
        (
            f"{inner[0]} {chance.choice(OPERATORS)} {inner[1]}",
            f"({inner[0]})",
            f"{chance.choice('-!~+')}{inner[0]}",
            f"{chance.choice(CALLS)}({', '.join(inner[: chance.randint(0, 3)])})",
            f"{inner[0]}[{inner[1]}]",
            f"{inner[0]} ? {inner[1]} : {inner[2]}",
        )
    )


def hostile(chance):
    """A text."""
    kind = chance.random()
    text = grown(chance, chance.choice((1, 2, 3, 4, 7)))[:LONGEST]
    if kind < 0.35:
        return text
    if kind < 0.7:
        for _ in range(chance.randint(1, 4)):
            at = chance.randint(0, len(text))
            piece = chance.choice((*SIGNS, *NUMBERS, *COLUMNS, *WORDS))
            text = text[:at] + piece + text[at + chance.choice((0, 0, 1, 3)) :]
        return text
    if kind < 0.85:
        return " ".join(
            chance.choice((*SIGNS, *NUMBERS, *COLUMNS, *WORDS, *CALLS)) for _ in range(chance.randint(1, 30))
        )
    many = chance.choice((10, 100, 190, 210, 3000, 60_000))
    open_, close = chance.choice(
        (("(", ")"), ("-", ""), ("sum(", ")"), ("x[", "]"), ("1 + ", ""), ("not ", ""), ("1 ? ", ": 1"))
    )
    repeated = f"{open_ * many}{text[:100]}{close * chance.choice((many, many, many - 1))}"
    return chance.choice((repeated, f"({text[:50]}) * " * many + "1", f"{text[:50]} < " * many + "1"))[:LONGEST]


def ask(tree, chance, text):
    """What is wrong with the answer to an expression, if anything, and whether it is no error."""
    how = chance.randint(0, 3)
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    problem, is_computed = None, True
    try:
        if how == 0:
            made = tree.arrays([text], how=tuple)[0]
            if len(made) != tree.num_entries:
                problem = f"{len(made)} values"
            elif chance.random() < 0.1:
                ak.to_buffers(made)
        elif how == 1:
            made = tree.arrays(["run"], cut=text)
            problem = None if len(made) <= tree.num_entries else f"{len(made)} entries pass"
        elif how == 2:
            tree.arrays(["run"], aliases={"a": text, "b": chance.choice(("a", "a + b", "b", "a * a"))})
        else:
            list(tree.iterate(["run", text], step_size=1000, cut="nMuon > 1"))
    except (forthwith.ForthwithError, UnicodeEncodeError):
        is_computed = False
    except ValueError as error:
        if "asked for twice" not in str(error):
            problem = repr(error)[:300]
    except BaseException as error:
        problem = f"{type(error).__name__}: {str(error)[:300]}"
    spent = time.process_time() - began
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if spent > 5:
        problem = f"takes {spent:.1f} s"
    elif more > 300_000:
        problem = f"takes {more / 1000:.0f} MB"
    kind = ("column", "cut", "alias", "steps")[how]
    return problem and f"{kind} {text[:300]!r} ({len(text)} characters): {problem}", is_computed


def campaign(seed, count):
    """Problems, and how many expressions were computed."""
    tree = forthwith.open(f"{pathlib.Path(__file__).parents[2] / 'data' / 'zmumu.root'}:events")
    problems, computed = [], 0
    for at in range(count):
        chance = random.Random(f"{seed} {at}")
        text = hostile(chance)
        problem, is_computed = ask(tree, chance, text)
        if problem:
            problems.append(f"seed {seed} {at}: {problem}")
        computed += is_computed
    return problems, computed


if __name__ == "__main__":
    found, total = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print(*found[:30], sep="\n")
    print(f"{total} expressions were computed, {len(found)} problems")
    sys.exit(bool(found))
