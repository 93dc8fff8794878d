"""Random expressions over random columns, computed by forthwith and by Awkward Array with NumPy.

``python tests/python/support/random_expressions.py 1 5000`` compares that many expressions from a seed on.
"""

import ast
import operator
import random
import sys
import tempfile
import warnings

import awkward as ak
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import forthwith

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
UNARY = (
    "abs", "sqrt", "exp", "log", "sin", "cos", "arctan", "floor", "ceil", "trunc", "rint", "sign", "square",
    "isnan", "isinf", "isfinite", "log10", "tanh", "expm1",
)  # fmt: skip
BINARY = (
    "arctan2", "hypot", "minimum", "maximum", "fmod", "copysign", "power", "floor_divide", "remainder",
)  # fmt: skip
REDUCTIONS = ["sum", "prod", "any", "all", "count", "min", "max"]
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "+", "-", "*")
BITS = ("&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def numbers(chance, kind, count):
    """Some numbers, with those at the ends of the type among them."""
    if kind == "bool":
        return [chance.random() < 0.5 for _ in range(count)]
    if kind in INTEGERS:
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        ends = [low, high, 0, 1, max(low, -1)]
        return [chance.choice(ends) if chance.random() < 0.1 else chance.randint(max(low, -9), 9) for _ in range(count)]
    ends = [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e30]
    return [chance.choice(ends) if chance.random() < 0.15 else round(chance.uniform(-9, 9), 2) for _ in range(count)]


def columns(chance, length):
    """Flat columns, columns of lists of equal lengths, and of lists of lists."""
    counts = [chance.choice((0, 0, 1, 2, 3)) for _ in range(length)]
    inner = [chance.choice((0, 1, 2)) for _ in range(sum(counts))]
    made = {}
    for kind in ("bool", *INTEGERS, *FLOATS):
        made[f"{kind}_a"] = ak.Array(np.array(numbers(chance, kind, length), dtype=kind))
        items = np.array(numbers(chance, kind, sum(counts)), dtype=kind)
        made[f"{kind}_l"] = ak.unflatten(ak.Array(items), counts)
    for kind in ("int32", "float32", "bool"):
        items = ak.Array(np.array(numbers(chance, kind, sum(inner)), dtype=kind))
        made[f"{kind}_ll"] = ak.unflatten(ak.unflatten(items, inner), counts)
    return made


def with_holes(chance, arrays):
    """The same columns with missing values, missing lists, and missing lists in lists; some of them with none."""

    def holes(array, rate):
        if isinstance(array, list):
            return [None if chance.random() < rate else holes(item, rate) for item in array]
        return array

    made = {}
    for name, array in arrays.items():
        kind, depth = name.split("_")
        rate = chance.choice((0, 0.1, 0.3))
        made[name] = ak.Array(filled(holes(array.to_list(), rate), depth.count("l"), np.dtype(kind)))
    return made


def filled(items, depth, dtype):
    """A layout of Python's lists, of a type that they need not tell."""
    valid = np.array([item is not None for item in items], dtype=bool)
    index = np.where(valid, np.cumsum(valid) - 1, -1).astype(np.int64)
    present = [item for item in items if item is not None]
    if depth == 0:
        content = ak.contents.NumpyArray(np.array(present, dtype=dtype))
    else:
        offsets = np.cumsum([0, *map(len, present)]).astype(np.int64)
        inner = filled([item for some in present for item in some], depth - 1, dtype)
        content = ak.contents.ListOffsetArray(ak.index.Index64(offsets), inner)
    return ak.contents.IndexedOptionArray(ak.index.Index64(index), content)


class Maker:
    """Makes expressions of some depth."""

    def __init__(self, chance):
        self.chance = chance

    def literal(self):
        """A number."""
        kind = self.chance.random()
        if kind < 0.5:
            return str(self.chance.choice((0, 1, 2, 3, 7, 100, 200, 300, 70000)))
        if kind < 0.9:
            return str(round(self.chance.uniform(0, 9), 1))
        return self.chance.choice(("True", "False"))

    def name(self):
        """A column."""
        if self.chance.random() < 0.08:
            return self.chance.choice(("int32", "float32", "bool")) + "_ll"
        return self.chance.choice(("bool", *INTEGERS, *FLOATS, *FLOATS)) + self.chance.choice(("_a", "_l"))

    def make(self, depth):
        """An expression."""
        if depth == 0 or self.chance.random() < 0.1:
            return self.literal() if self.chance.random() < 0.2 else self.name()
        kind, pick = self.chance.random(), self.chance.choice

        def inner():
            return self.make(depth - 1)

        if kind < 0.35:
            return self.wrapped(f"{inner()} {pick(ARITHMETIC)} {inner()}")
        if kind < 0.40:
            return self.wrapped(f"{inner()} ** {pick(('2', '3', '0.5', inner()))}")
        if kind < 0.52:
            return self.wrapped(f"{inner()} {pick(COMPARISONS)} {inner()}")
        if kind < 0.60:
            return f"(({inner()}) {pick(BITS)} ({inner()}))"
        if kind < 0.65:
            return f"(({inner()}) {pick(('and', 'or'))} ({inner()}))"
        if kind < 0.66:
            return f"is_none({inner()})"
        if kind < 0.70:
            return f"({pick(('-', '+', '~', 'not '))}({inner()}))"
        if kind < 0.80:
            return f"{pick(UNARY)}({inner()})"
        if kind < 0.86:
            return f"{pick(BINARY)}({inner()}, {inner()})"
        if kind < 0.90:
            return f"where({inner()}, {inner()}, {inner()})"
        if kind < 0.93:
            if self.chance.random() < 0.3:
                return f"{pick(('float32', 'bool'))}_ll[any(int32_ll {pick(COMPARISONS)} {self.literal()})]"
            return f"{pick((*FLOATS, 'int16'))}_l[{pick(INTEGERS)}_l {pick(COMPARISONS)} {self.literal()}]"
        return f"{pick(REDUCTIONS)}({inner()})"

    def wrapped(self, text):
        """With brackets or without: both read the same precedence."""
        return f"({text})" if self.chance.random() < 0.7 else text


COMPARED = {
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
}


class Spelled(ast.NodeTransformer):
    """What Python cannot do of arrays, as functions."""

    def visit_BoolOp(self, node):
        """And, or."""
        self.generic_visit(node)
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        found = node.values[0]
        for value in node.values[1:]:
            found = ast.Call(ast.Name(name, ast.Load()), [found, value], [])
        return found

    def visit_BinOp(self, node):
        """Bits, which are logic of booleans."""
        self.generic_visit(node)
        names = {ast.BitAnd: "bits_and", ast.BitOr: "bits_or"}
        if type(node.op) in names:
            return ast.Call(ast.Name(names[type(node.op)], ast.Load()), [node.left, node.right], [])
        return node

    def visit_UnaryOp(self, node):
        """Not."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.Call(ast.Name("logical_not", ast.Load()), [node.operand], [])
        return node

    def visit_Subscript(self, node):
        """Items of lists."""
        self.generic_visit(node)
        return ast.Call(ast.Name("kept", ast.Load()), [node.value, node.slice], [])

    def visit_Compare(self, node):
        """Chains."""
        self.generic_visit(node)
        values = [node.left, *node.comparators]
        pairs = [
            ast.Call(ast.Name(COMPARED[type(op)], ast.Load()), [left, right], [])
            for left, op, right in zip(values, node.ops, values[1:], strict=False)
        ]
        found = pairs[0]
        for pair in pairs[1:]:
            found = ast.Call(ast.Name("logical_and", ast.Load()), [found, pair], [])
        return found


def kept(items, condition):
    """The items for which a condition holds. Awkward's brackets go wrong where lists are missing in one and not the other."""
    if "?" not in str(ak.type(condition)):
        return items[condition]

    def keep(items, condition, depth):
        if items is None or condition is None:
            return None
        if depth > 1:
            return [keep(inner, holds, depth - 1) for inner, holds in zip(items, condition, strict=True)]
        pairs = zip(items, condition, strict=True)
        return [None if holds is None else item for item, holds in pairs if holds is None or holds]

    # The outermost level is that of the entries, which stay.
    lists, holds = items.to_list(), condition.to_list()
    found = [keep(inner, those, condition.ndim - 1) for inner, those in zip(lists, holds, strict=True)]
    return ak.Array(filled(found, items.ndim - 1, innermost(items).dtype))


def may_lack(x):
    """Whether values or lists of an array may be missing."""
    return isinstance(x, ak.Array) and ("?" in str(ak.type(x)) or "option[" in str(ak.type(x)))


def mapped(of, *operands):
    """Booleans made of the values of arrays, which are ``None`` where they are missing; missing lists are missing lists."""
    depths = [item.ndim - 1 if isinstance(item, ak.Array) else 0 for item in operands]

    def meet(values, depths):
        if not any(depths):
            return of(*values)
        lists = [value for value, depth in zip(values, depths, strict=True) if depth]
        if any(value is None for value in lists):
            return None
        if len(set(map(len, lists))) > 1:
            raise ValueError("lists of unequal lengths")
        count, below = len(lists[0]), [max(depth - 1, 0) for depth in depths]
        each = [value if depth else [value] * count for value, depth in zip(values, depths, strict=True)]
        return [meet(some, below) for some in zip(*each, strict=True)]

    length = next(len(item) for item in operands if isinstance(item, ak.Array))
    rows = [item.to_list() if isinstance(item, ak.Array) else [item] * length for item in operands]
    return ak.Array(filled([meet(row, depths) for row in zip(*rows, strict=True)], max(depths), np.dtype(bool)))


def logic(function, decides):
    """And, or: Awkward Array's is missing wherever one side is, also where the other one decides alone."""

    def decided(x, y):
        if None not in (x, y):
            return bool(function(bool(x), bool(y)))
        return decides if any(z is not None and bool(z) == decides for z in (x, y)) else None

    return lambda x, y: mapped(decided, x, y) if may_lack(x) or may_lack(y) else function(x, y)


def bits(name, decides):
    """The same of booleans, and of integers the bits."""
    function, booleans = getattr(operator, name), logic(getattr(np, f"logical_{name.strip('_')}"), decides)

    def of_two(x, y):
        is_bool = all(innermost(z).dtype == bool for z in (x, y))
        return booleans(x, y) if is_bool and (may_lack(x) or may_lack(y)) else function(x, y)

    return of_two


def is_none(x):
    """Whether values are missing, at the level of the innermost ones."""
    return mapped(lambda x: x is None, x) if isinstance(x, ak.Array) else False


class Unlike(Exception):
    """A case in which the other side has another meaning, which docs/details/expressions.md states."""


def innermost(x):
    """The numbers of an array."""
    layout = ak.to_layout(ak.Array(x) if isinstance(x, ak.Array | np.ndarray) else ak.Array([x]))
    while not isinstance(layout, ak.contents.NumpyArray):
        layout = layout.content
    return np.asarray(layout.data)


def narrow(x):
    """NumPy has float16 for the smallest integers and booleans, and columns have not."""
    if isinstance(x, bool | ak.Array | np.ndarray | np.generic) and innermost(x).dtype.itemsize == 1:
        raise Unlike
    return x


# Functions whose last digit may differ, and operations that make much of it.
ROUNDED_UP = ("exp", "log", "sin", "cos", "tan", "**", "power", "hypot", "sqrt", "/")
JUMPING = ("%", "//", "mod", "remainder", "floor", "ceil", "trunc", "rint", "-", "log", "sin", "cos")

KEEPING = ("abs", "floor", "ceil", "trunc", "sign", "square", "isnan", "isinf", "isfinite")


def choose(condition, x, y):
    """As `numpy.where`: Awkward Array makes unions of booleans and numbers, and gives Python's numbers types of their own."""
    # Of lists that are missing it makes lists of missing items, and of what is said to be lists here, it is a missing list.
    if not isinstance(condition, ak.Array) or any("option[" in str(ak.type(item)) for item in (condition, x, y)):
        raise Unlike
    arrays = [item for item in (x, y) if isinstance(item, ak.Array | np.generic)]
    if len(arrays) == 1:
        dtype = innermost(arrays[0]).dtype
        kind = np.result_type(dtype, x if arrays[0] is y else y)
        x, y = (item if item is arrays[0] else kind.type(item) for item in (x, y))
    made = ak.where(condition, x, y)
    if "union" in str(ak.type(made)):
        raise Unlike
    return made


def comparison(name):
    """As in NumPy: Awkward Array refuses integers beyond the type of the other side, which NumPy compares."""
    function, spelled = getattr(np, name), {"less": operator.lt, "less_equal": operator.le, "greater": operator.gt}
    spelled |= {"greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne}

    def compare(x, y):
        if not isinstance(x, ak.Array) and not isinstance(y, ak.Array):
            return spelled[name](x, y)
        if isinstance(x, int) and isinstance(y, ak.Array) and innermost(y).dtype.kind in "iu":
            holds = function(x, np.zeros(1, innermost(y).dtype))[0] if beyond(x, y) else None
            return function(x, y) if holds is None else ak.full_like(y, holds, dtype=bool)
        if isinstance(y, int) and isinstance(x, ak.Array) and innermost(x).dtype.kind in "iu" and beyond(y, x):
            return ak.full_like(x, function(np.zeros(1, innermost(x).dtype), y)[0], dtype=bool)
        return function(x, y)

    return compare


def beyond(number, array):
    """Whether a number is no number of an array's type."""
    limits = np.iinfo(innermost(array).dtype)
    return not limits.min <= number <= limits.max


def functions():
    """The functions of the expressions by Awkward Array and NumPy."""

    def column(x):
        """A value that is none of numbers of the text alone, which NumPy's functions make typed ones of."""
        if not isinstance(x, ak.Array | np.generic):
            raise Unlike
        return x

    def reduction(name):
        def reduce(x):
            if not isinstance(x, ak.Array) or x.ndim < 2:
                raise TypeError("no lists")
            if name in ("min", "max") and innermost(x).dtype.kind == "f" and np.any(np.isnan(innermost(x))):
                raise Unlike
            return getattr(ak, name)(x, axis=-1)

        return reduce

    def unary(name):
        function = getattr(np, name)
        if name in ("abs", "square", "sign"):
            return lambda x: function(column(narrow(x) if isinstance(x, bool) else x))
        return function if name in KEEPING else (lambda x: function(narrow(x)))

    def binary(name):
        function = getattr(np, name)
        if name in ("arctan2", "hypot", "copysign"):
            return lambda x, y: function(narrow(x), narrow(y))

        def of_two(x, y):
            # Of numbers of the text it is what the operator makes of them, and NumPy's are typed.
            if not isinstance(x, ak.Array | np.generic) and not isinstance(y, ak.Array | np.generic):
                raise Unlike
            return function(x, y)

        return of_two

    found = {name: unary(name) for name in UNARY} | {name: binary(name) for name in BINARY}
    found |= {name: reduction(name) for name in REDUCTIONS}
    found |= {"logical_and": logic(np.logical_and, False), "logical_or": logic(np.logical_or, True)}
    found |= {"bits_and": bits("and_", False), "bits_or": bits("or_", True), "is_none": is_none}
    found["logical_not"] = lambda x: np.logical_not(column(x))
    found |= {name: comparison(name) for name in COMPARED.values()}
    return found | {"where": choose, "kept": kept}


def expected(text, arrays):
    """The values, or the exception."""
    tree = ast.fix_missing_locations(Spelled().visit(ast.parse(text, mode="eval")))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return eval(compile(tree, "expression", "eval"), {**functions(), "__builtins__": {}}, dict(arrays))
        except Unlike:
            raise
        except Exception as error:
            return error


def flattened(array):
    """Structure, and numbers."""
    layout = ak.to_layout(ak.Array(array))
    levels = []
    while True:
        if layout.is_list:
            layout = layout.to_ListOffsetArray64(True)
            levels.append(np.asarray(layout.offsets).tolist())
            layout = layout.content[: layout.offsets[-1]]
        elif layout.is_option:
            valid = np.asarray(layout.mask_as_bool(valid_when=True))
            if not valid.all():
                levels.append(valid.tolist())
            layout = layout.project()
        elif layout.is_indexed:
            layout = layout.project()
        else:
            return levels, np.asarray(layout.data)


def is_same(found, wanted, text):
    """Equal structures, types and numbers. Functions of float32 differ in their last digits, and so do what is made of them."""
    (levels, mine), (others, theirs) = flattened(found), flattened(wanted)
    if levels != others or mine.dtype != theirs.dtype or mine.shape != theirs.shape:
        return False
    if mine.dtype.kind == "f":
        short = any(kind in text for kind in ("float32", "int16"))
        jumps = JUMPING if short else ("%", "//", "mod", "remainder")
        if any(word in text for word in ROUNDED_UP) and any(word in text for word in jumps):
            return True
        tolerance = 2e-5 if mine.dtype == np.float32 else 1e-5 if short else 1e-11
        return np.allclose(mine, theirs, rtol=tolerance, atol=1e-30, equal_nan=True)
    return np.array_equal(mine, theirs)


def compare(table, arrays, text, length):
    """What differs, if anything does; whether a value was computed."""
    try:
        wanted = expected(text, arrays)
    except Unlike:
        return None, False
    try:
        found = table.arrays([text], how=tuple)[0]
    except (forthwith.RequestError, forthwith.KeyInFileError) as error:
        # A condition for each entry chooses whole lists there, and meets the items of lists that are equally long here.
        if "where" in text and "meets a list" in str(error):
            return None, False
        # Python's integers have any length, and NumPy's of constants wrap around.
        if isinstance(wanted, Exception) or "more than 64 bits" in str(error) or "not whole" in str(error):
            return None, False
        return f"{text}\n  refused: {error}\n  Awkward has {ak.type(wanted)}", False
    if isinstance(wanted, Exception) and not any(name in text for name in arrays):
        return None, False  # Python's numbers, of which NumPy's booleans are none
    if isinstance(wanted, Exception):
        return f"{text}\n  gives {found.type}; Awkward: {type(wanted).__name__}: {str(wanted)[:200]}", False
    if not isinstance(wanted, ak.Array):
        wanted = ak.Array(np.full(length, wanted))
    if not is_same(found, wanted, text):
        return f"{text}\n  {found.type}: {found.to_list()}\n  {wanted.type}: {wanted.to_list()}", True
    return None, True


def campaign(seed, count, each=50, length=12):
    """The differences between expressions, half of them over columns with missing values and lists, and how many had values."""
    problems, computed = [], 0
    for part in range((count + each - 1) // each):
        chance = random.Random(f"{seed} {part}")
        arrays = columns(chance, length)
        has_holes = part % 2 == 1
        if has_holes:
            arrays = with_holes(chance, arrays)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/columns.parquet"
            made = {name: ak.to_arrow(array, extensionarray=False) for name, array in arrays.items()}
            fields = [pa.field(name, column.type, nullable=has_holes) for name, column in made.items()]
            pq.write_table(pa.Table.from_arrays(list(made.values()), schema=pa.schema(fields)), path)
            with forthwith.open(path) as table:
                maker = Maker(chance)
                for _ in range(min(each, count - part * each)):
                    text = maker.make(chance.choice((1, 2, 2, 3)))
                    if text in arrays:
                        continue
                    problem, has_value = compare(table, arrays, text, length)
                    computed += has_value
                    if problem:
                        problems.append(f"[{seed} {part}] {problem}")
    return problems, computed


if __name__ == "__main__":
    problems, computed = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(problems[:40]))
    print(f"{len(problems)} differences, {computed} values compared")
    sys.exit(bool(problems))
