"""Programs of machines that several tests run."""

import struct

import pytest

from forthwith.forth import ForthMachine32, ForthMachine64

BOTH = pytest.mark.parametrize("machine", [ForthMachine32, ForthMachine64])

LISTS = """
input data
output offsets int64
output content float32
0 offsets <- stack
0 do  data !I-> stack dup offsets +<- stack  data #!f-> content  loop
"""
ENDLESS = "variable n begin 1 n +! again"


def lists(*items):
    return b"".join(struct.pack(f">I{len(item)}f", len(item), *item) for item in items)
