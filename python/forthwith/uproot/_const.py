"""The one set of uproot's constants that meets those who look at an ntuple: what a field is in its structure."""

from __future__ import annotations

from enum import IntEnum


class RNTupleFieldRole(IntEnum):
    """The role of a field of an ntuple."""

    LEAF = 0
    COLLECTION = 1
    RECORD = 2
    VARIANT = 3
    STREAMER = 4
