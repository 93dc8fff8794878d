"""Random conditions over random tables with missing values, compared with polars and DuckDB: values and rows that are kept.

``python tests/python/support/random_missing.py 1 500`` compares that many conditions from a seed on.
"""

import operator
import random
import sys
import tempfile

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import forthwith

try:
    import duckdb
except ImportError:
    duckdb = None

COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
WORDS = ("", "a", "ab", "b", "zz", "é")


def table(chance, length):
    """Columns in which values are missing, or may be and are not, and one in which none can be."""

    def column(kind, make, holes=True):
        rate = chance.choice((0, 0.2, 0.5, 1)) if holes else 0
        items = [None if chance.random() < rate else make() for _ in range(length)]
        return pa.array(items, kind)

    def number():
        return chance.randint(-3, 3)

    return pa.table(
        {
            "i": column(pa.int64(), number),
            "k": column(pa.int8(), number),
            "f": column(pa.float64(), lambda: number() / 2),
            "s": column(pa.string(), lambda: chance.choice(WORDS)),
            "t": column(pa.string(), lambda: chance.choice(WORDS)),
            "p": column(pa.bool_(), lambda: chance.random() < 0.5),
            "q": column(pa.bool_(), lambda: chance.random() < 0.5),
            "n": column(pa.int32(), number, holes=False),
        }
    )


def comparison(chance):
    """A condition without others in it, as text of ours, of SQL, and as an expression of polars."""
    kind = chance.random()
    if kind < 0.15:
        name = chance.choice("pq")
        return name, name, pl.col(name)
    if kind < 0.3:
        name = chance.choice("ikfstpq")
        return f"is_none({name})", f"{name} is null", pl.col(name).is_null()
    word, compare = chance.choice(list(COMPARED.items()))
    sign = "=" if word == "==" else word
    if kind < 0.5:
        left, right = chance.choice(("st", "ts", "sx", "tx"))
        value = chance.choice(WORDS)
        if right == "x":
            return f"{left} {word} '{value}'", f"{left} {sign} '{value}'", compare(pl.col(left), pl.lit(value))
        return f"{left} {word} {right}", f"{left} {sign} {right}", compare(pl.col(left), pl.col(right))
    left, right = chance.choice("ikfn"), chance.choice((*"ikfn", -2, 0, 1))
    holds = compare(pl.col(left), pl.col(right) if isinstance(right, str) else pl.lit(right))
    if chance.random() < 0.3:
        low = chance.randint(-3, 0)
        both = compare(pl.lit(low), pl.col(left)) & holds
        return f"{low} {word} {left} {word} {right}", f"({low} {sign} {left} and {left} {sign} {right})", both
    return f"{left} {word} {right}", f"{left} {sign} {right}", holds


def condition(chance, depth):
    """A condition of some depth in the three spellings."""
    kind = chance.random()
    if not depth or kind < 0.1:
        return comparison(chance)
    ours, theirs, polars = condition(chance, depth - 1)
    if kind < 0.25:
        return f"{chance.choice(('not ', '!', '~'))}({ours})", f"not ({theirs})", ~polars
    if kind < 0.32:
        return f"is_none({ours})", f"({theirs}) is null", polars.is_null()
    if kind < 0.36:
        value = chance.choice((True, False))
        word, join = chance.choice((("and", operator.and_), ("or", operator.or_)))
        return f"({ours}) {word} {value}", f"(({theirs}) {word} {value})", join(polars, pl.lit(value))
    other, others, more = condition(chance, depth - 1)
    if kind < 0.42:
        return f"({ours}) ^ ({other})", f"(({theirs}) != ({others}))", polars ^ more
    if kind < 0.71:
        return f"({ours}) {chance.choice(('and', '&', '&&'))} ({other})", f"(({theirs}) and ({others}))", polars & more
    return f"({ours}) {chance.choice(('or', '|', '||'))} ({other})", f"(({theirs}) or ({others}))", polars | more


def in_lists(chance, whole):
    """The same rows in lists, as the items of fewer rows."""
    offsets = sorted({0, len(whole), *(chance.randint(0, len(whole)) for _ in range(len(whole) // 3))})
    # Empty lists, too.
    offsets = sorted(offsets + [at for at in offsets if chance.random() < 0.2])
    ends = pa.array(offsets, pa.int32())
    columns = {name: whole[name].combine_chunks() for name in whole.column_names}
    made = {name: pa.ListArray.from_arrays(ends, column) for name, column in columns.items()}
    # Lists of text are compared with each other if no list may be missing.
    fields = [pa.field(name, lists.type, name not in "st" and chance.random() < 0.5) for name, lists in made.items()]
    return pa.Table.from_arrays(list(made.values()), schema=pa.schema(fields))


def found(chance, paths, whole, text, polars):
    """What we make of a condition, each way with a name: its values, and the numbers of the rows that it keeps."""
    with forthwith.open(paths["flat"]) as flat, forthwith.open(paths["avro"]) as avro:
        for name, opened in (("Parquet", flat), ("Avro", avro)):
            yield f"values in {name}", opened.arrays([text], how=tuple)[0].to_list()
            yield f"rows of {name}", opened.arrays(["row"], cut=text, threads=chance.choice((1, 3))).row.to_list()
    steps = forthwith.iterate(paths["flat"], ["row"], cut=text, step_size=7)
    yield "rows of steps", [row for step in steps for row in step.row.to_list()]
    with forthwith.open(paths["lists"]) as lists:
        values = lists.arrays([text], how=tuple)[0].to_list()
        yield "values in lists", [item for items in values for item in items]
        # An item whose condition is missing is a missing item.
        kept = lists.arrays([f"row[({text}) or False]"], how=tuple)[0].to_list()
        yield "items of lists", [item for items in kept for item in items if item is not None]
    yield "rows of a scan", forthwith.scan(paths["flat"]).filter(polars).collect()["row"].to_list()


def campaign(seed, count, each=10):
    """The differences, and how many conditions were true, false and missing somewhere."""
    problems, mixed = [], 0
    for part in range((count + each - 1) // each):
        chance = random.Random(f"{seed} {part}")
        whole = table(chance, chance.choice((1, 20, 100)))
        whole = whole.append_column("row", pa.array(range(len(whole)), pa.int64()))
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: f"{folder}/{name}" for name in ("flat", "avro", "lists")}
            group = chance.choice((1, 7, 100))
            pq.write_table(whole, paths["flat"], row_group_size=group, write_page_index=chance.random() < 0.5)
            forthwith.avro.write(paths["avro"], whole)
            pq.write_table(in_lists(chance, whole), paths["lists"])
            for _ in range(each):
                text, sql, polars = condition(chance, chance.choice((1, 2, 2, 3, 5)))
                values = pl.from_arrow(whole).select(x=polars)["x"].to_list()
                if len(values) != len(whole):  # polars makes one value of constants
                    continue
                if duckdb is not None:
                    judged = duckdb.sql(f"select {sql} from whole").fetchall()
                    assert [value for (value,) in judged] == values, f"DuckDB and polars differ: {sql}"
                mixed += len(set(values)) == 3
                rows = [row for row, value in enumerate(values) if value]
                for way, got in found(chance, paths, whole, text, polars):
                    if got != (values if "values" in way else rows):
                        problems.append(
                            f"[{seed} {part}] {way}: {text}\n  {got}\n  {values if 'values' in way else rows}"
                        )
    return problems, mixed


if __name__ == "__main__":
    problems, mixed = campaign(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(problems[:40]))
    print(f"{len(problems)} differences, {mixed} conditions were true, false and missing")
    sys.exit(bool(problems))
