"""uproot's constants: the numbers of ROOT's types and codecs, the roles of fields of ntuples, and the types of columns."""

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

_NUMBERS = """
kZLIB 1 kLZMA 2 kOldCompressionAlgo 3 kLZ4 4 kZSTD 5 kUndefinedCompressionAlgorithm 6
kBase 0 kChar 1 kShort 2 kInt 3 kLong 4 kFloat 5 kCounter 6 kCharStar 7 kDouble 8 kDouble32 9 kLegacyChar 10 kUChar 11
kUShort 12 kUInt 13 kULong 14 kBits 15 kLong64 16 kULong64 17 kBool 18 kFloat16 19 kOffsetL 20 kOffsetP 40
kObject 61 kAny 62 kObjectp 63 kObjectP 64 kTString 65 kTObject 66 kTNamed 67 kAnyp 68 kAnyP 69 kAnyPnoVT 70 kSTLp 71
kSkip 100 kSkipL 120 kSkipP 140 kConv 200 kConvL 220 kConvP 240 kSTL 300 kSTLstring 365 kStreamer 500 kStreamLoop 501
kNotSTL 0 kSTLvector 1 kSTLlist 2 kSTLdeque 3 kSTLmap 4 kSTLmultimap 5 kSTLset 6 kSTLmultiset 7 kSTLbitset 8
kSTLforwardlist 9 kSTLunorderedset 10 kSTLunorderedmultiset 11 kSTLunorderedmap 12 kSTLunorderedmultimap 13 kSTLend 14
kSTLany 300 kStartBigFile 2000000000
"""
_words = _NUMBERS.split()
globals().update(zip(_words[::2], map(int, _words[1::2]), strict=True))
