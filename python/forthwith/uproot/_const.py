"""Those of uproot's constants that meet users who look at an ntuple: the roles of fields, and the types of columns."""

from __future__ import annotations

from enum import IntEnum


class RNTupleFieldRole(IntEnum):
    """The role of a field of an ntuple."""

    LEAF = 0
    COLLECTION = 1
    RECORD = 2
    VARIANT = 3
    STREAMER = 4


_COLUMNS = (
    "bit 1", "byte 8", "char 8", "int8 8", "uint8 8", "int16 16", "uint16 16", "int32 32", "uint32 32", "int64 64", "uint64 64",
    "real16 16", "real32 32", "real64 64", "index32 32", "index64 64", "switch 96", "splitint16 16", "splituint16 16",
    "splitint32 32", "splituint32 32", "splitint64 64", "splituint64 64", "splitreal16 16", "splitreal32 32",
    "splitreal64 64", "splitindex32 32", "splitindex64 64", "real32trunc 32", "real32quant 32",
)  # fmt: skip

# The numbers of the types of columns by their names, and the bits of an element in memory by these numbers.
rntuple_col_type_to_num_dict = {text.split()[0]: number for number, text in enumerate(_COLUMNS)}
rntuple_col_num_to_size_dict = {number: int(text.split()[1]) for number, text in enumerate(_COLUMNS)}
