"""`Chain.arrays` of files that differ: read in one call for the schemas of all files, and step after step for each file.

``python random_chain_runs.py SEED COUNT`` compares the two ways, with files that lack columns, have more, other types or
another order, or are damaged.
"""

import sys
import tempfile

import awkward as ak
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from random_chain_steps import ENDINGS, columns, damage, request, write

import forthwith
from forthwith._tree import runs

LIBRARIES = ["ak", "ak", "np", "pd", "arrow", "pl"]
FILTERS = [
    {"filter_name": "[xn]"},
    {"filter_name": ["x", "s"]},
    {"exclude": "s"},
    {"filter_typename": "/double|float/"},
]


def asked(random):
    """Arguments of `Chain.arrays`."""
    ask = request(random)
    ask["library"] = str(random.choice(LIBRARIES))
    if random.random() < 0.3:
        ask["how"] = (tuple, list, dict)[int(random.integers(3))]
    if "names" not in ask and random.random() < 0.4:
        ask |= FILTERS[int(random.integers(len(FILTERS)))]
    if random.random() < 0.1:
        ask["logical"] = False
    if random.random() < 0.1:
        ask["errors"] = "skip"
    return ask


def described(found):
    """The values, the types and the index of what a library was given."""
    if isinstance(found, dict):
        return {name: described(column) for name, column in found.items()}
    if isinstance(found, tuple | list):
        return type(found), [described(column) for column in found]
    if isinstance(found, ak.Array):
        return str(found.type), found.to_list()
    if isinstance(found, np.ndarray):
        values = [item.tolist() if hasattr(item, "tolist") else item for item in found]
        return str(found.dtype), found.shape, values, np.ma.getmaskarray(found).tolist()
    if isinstance(found, pd.DataFrame | pd.Series):
        # Numbers that follow each other may be a RangeIndex or not, as blocks and statistics have it.
        index = str(found.index.dtype), found.index.tolist()
        if isinstance(found, pd.DataFrame):
            return index, str(found.dtypes.to_dict()), {name: described(found[name]) for name in found}
        return index, str(found.dtype), [str(item.tolist() if hasattr(item, "tolist") else item) for item in found]
    if isinstance(found, pa.Table):
        return str(found.schema), found.to_pylist()
    if isinstance(found, pa.Array):
        return str(found.type), found.to_pylist()
    if isinstance(found, pl.DataFrame | pl.Series):
        return str(found.schema if isinstance(found, pl.DataFrame) else found.dtype), found.to_dicts() if isinstance(
            found, pl.DataFrame
        ) else found.to_list()
    raise TypeError(type(found))


def outcome(chain, ask):
    """The result, or the type, the text and the place of the error."""
    try:
        return described(chain.arrays(**ask))
    except Exception as error:  # any: it is compared
        places = [getattr(error, name, None) for name in ("file", "object", "entry", "block")]
        return type(error), str(error), places


def compare(seed, at):
    """Compares the two ways for some random files. Returns how many requests were answered by runs of several schemas."""
    random = np.random.default_rng((seed, at))
    answered = 0
    with tempfile.TemporaryDirectory() as folder:
        one = str(random.choice(ENDINGS))
        names = []
        for number in range(int(random.integers(2, 7))):
            ending = one if random.random() < 0.8 else str(random.choice(ENDINGS))
            names.append(write(folder, number, ending, columns(random, random.random() < 0.7)[0]))
        if random.random() < 0.15:
            damage(random, names[int(random.integers(len(names)))])
        for _ in range(6):
            ask, missing = asked(random), "null" if random.random() < 0.5 else "raise"
            made = []
            whole = runs._WholeFiles.of_schemas

            def spying(files, made=made, whole=whole):
                made.append(whole(files))
                return made[-1]

            runs._WholeFiles.of_schemas = spying
            try:
                new = outcome(forthwith.Chain(names, missing=missing), ask)
            finally:
                runs._WholeFiles.of_schemas = whole
            answered += any(found is not None for found in made)
            arrays, runs.arrays = runs.arrays, lambda *_: None
            try:
                old = outcome(forthwith.Chain(names, missing=missing), ask)
            finally:
                runs.arrays = arrays
            assert repr(new) == repr(old), (seed, at, names, missing, ask, new, old)
    return answered


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    print(sum(compare(seed, at) for at in range(count)), "of", 6 * count, "requests were answered by runs of files")
