"""Formats that tests register, and the files of random ones."""

import contextlib
import io
import itertools
import random
import struct

import forthwith

PULSES = """
input data  output channel uint16  output charge float32
begin data end invert while  data H-> channel  data f-> charge  repeat
"""
PULSES_TYPE = "{channel: uint16, charge: float32}"

_names = itertools.count()


def name():
    """One that no other test has."""
    return f"test{next(_names)}"


@contextlib.contextmanager
def registered(program, of, **given):
    """A format while the block lasts: its name."""
    own = given.pop("name", None) or name()
    forthwith.register_format(own, program, of, **given)
    try:
        yield own
    finally:
        forthwith.unregister_format(own)


def pulses(count, magic=b""):
    return magic + b"".join(struct.pack("<Hf", number % 65536, number / 2) for number in range(count))


def opened(data, **options):
    return forthwith.open(io.BytesIO(data), **options)


class Written:
    """Blocks behind their number of entries and of bytes, behind magic bytes."""

    def __init__(self, magic, blocks):
        heads = (struct.pack("<II", entries, len(block)) + block for entries, block in blocks)
        self.data = magic + b"".join(heads)

    @staticmethod
    def blocks(file):
        """The arguments of `register_format` that find them."""
        file.seek(4)
        while head := file.read(8):
            entries, size = struct.unpack("<II", head)
            start = file.tell()
            yield start, start + size, entries
            file.seek(size, 1)


# ---- random types: each knows its type, its outputs, the words that read a value, and how a value is written

NUMBERS = {
    "int8": ("b", "b->"),
    "uint8": ("B", "B->"),
    "int16": ("h", "h->"),
    "uint16": ("H", "H->"),
    "int32": ("i", "i->"),
    "uint32": ("I", "I->"),
    "int64": ("q", "q->"),
    "uint64": ("Q", "Q->"),
    "float32": ("f", "f->"),
    "float64": ("d", "d->"),
}


class Maker:
    """A random type, the program that reads it, and random values with their bytes."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.outputs = []
        self.begins = []
        self.node = self.record(0) if self.random.random() < 0.8 else self.any(0)
        self.type = self.node[0]
        body = self.node[1]
        heads = "".join(f"output {name} {dtype}\n" for name, dtype in self.outputs)
        start = "input data\n" + heads + "\n".join(self.begins) + "\n"
        self.program = f"{start}begin data end invert while\n{body}\nrepeat\n"
        self.counted = f"{start}0 do\n{body}\nloop\n"

    def value(self):
        """A value and its bytes."""
        return self.node[2]()

    def output(self, dtype):
        name = f"o{len(self.outputs)}"
        self.outputs.append((name, dtype))
        return name

    def any(self, depth, union=True, option=True):
        kinds = ["number"] * 4 + ["text", "bytes", "fixed"]
        if depth < 3:
            kinds += ["list", "list", "record", "tuple"] + ["option", "mask"] * option + ["union"] * union
        return getattr(self, self.random.choice(kinds))(depth)

    def number(self, _):
        dtype = self.random.choice(list(NUMBERS))
        code, word = NUMBERS[dtype]
        order = self.random.choice("<>")
        out = self.output(dtype)
        size = struct.calcsize(code)

        def value():
            if code in "fd":
                number = self.random.randint(-(1 << 20), 1 << 20) / 4
            else:
                signed = code.islower()
                number = self.random.getrandbits(8 * size) - (1 << 8 * size - 1) * signed
            return number, struct.pack(order + code, number)

        return dtype, f"data {'!' if order == '>' else ''}{word} {out}", value

    def counted_bytes(self, of, values):
        offsets, out = self.output("int64"), self.output("uint8")
        self.begins.append(f"0 {offsets} <- stack")
        words = f"data B-> stack dup {offsets} +<- stack data #B-> {out}"

        def value():
            made = values()
            raw = made if isinstance(made, bytes) else made.encode()
            return made, bytes([len(raw)]) + raw

        return of, words, value

    def text(self, _):
        return self.counted_bytes("string", lambda: "".join(self.random.choices("aé∂𝄞", k=self.random.randrange(5))))

    def bytes(self, _):
        return self.counted_bytes("bytes", lambda: self.random.randbytes(self.random.randrange(9)))

    def fixed(self, depth):
        size = self.random.randint(1, 3)
        of, words, make = self.number(depth)
        words = f"{size} data #{words.removeprefix('data ')}"

        def value():
            made = [make() for _ in range(size)]
            return [one for one, _ in made], b"".join(raw for _, raw in made)

        return f"{size} * {of}", words, value

    def list(self, depth):
        dtype = self.random.choice(["int64", "int32", "uint32"])
        offsets = self.output(dtype)
        self.begins.append(f"0 {offsets} <- stack")
        of, words, make = self.any(depth + 1)

        def value():
            made = [make() for _ in range(self.random.randrange(4))]
            return [one for one, _ in made], bytes([len(made)]) + b"".join(raw for _, raw in made)

        return f"var * {of}", f"data B-> stack dup {offsets} +<- stack 0 do {words} loop", value

    def record(self, depth):
        fields = [(f"f{at}", *self.any(depth + 1)) for at in range(self.random.randint(1, 4))]

        def value():
            made = {name: make() for name, _, _, make in fields}
            return {name: one for name, (one, _) in made.items()}, b"".join(raw for _, raw in made.values())

        of = ", ".join(f"{name}: {of}" for name, of, _, _ in fields)
        return "{" + of + "}", "\n".join(words for _, _, words, _ in fields), value

    def tuple(self, depth):
        slots = [self.any(depth + 1) for _ in range(self.random.randint(1, 3))]

        def value():
            made = [make() for _, _, make in slots]
            return tuple(one for one, _ in made), b"".join(raw for _, raw in made)

        return f"({', '.join(of for of, _, _ in slots)})", "\n".join(words for _, words, _ in slots), value

    def option(self, depth):
        index = self.output(self.random.choice(["int64", "int32"]))
        count = f"count{index}"
        self.begins.append(f"variable {count}")
        of, words, make = self.any(depth + 1, union=False, option=False)
        there = f"{count} @ {index} <- stack 1 {count} +! {words}"

        def value():
            if self.random.random() < 0.3:
                return None, b"\0"
            made, raw = make()
            return made, b"\1" + raw

        return f"?{of}", f"data B-> stack if {there} else -1 {index} <- stack then", value

    def mask(self, depth):
        mask = self.output(self.random.choice(["bool", "int8"]))
        of, words, make = self.number(depth)

        def value():
            there = self.random.random() < 0.7
            made, raw = make()
            return made if there else None, bytes([there]) + raw

        return f"?{of}", f"data ?-> {mask} {words}", value

    def union(self, depth):
        tags, index = self.output("int8"), self.output(self.random.choice(["int64", "int32"]))
        # Alternatives that Awkward Array would make one are none.
        kinds = self.random.sample(["number", "text", "record", "list"], self.random.randint(2, 3))
        alternatives, cases = [], []
        for tag, kind in enumerate(kinds):
            count = f"tag{index}x{tag}"
            self.begins.append(f"variable {count}")
            of, words, make = getattr(self, kind)(depth + 1)
            alternatives.append((of, make))
            cases.append(f"{tag} of {tag} {tags} <- stack {count} @ {index} <- stack 1 {count} +! {words} endof")

        def value():
            tag = self.random.randrange(len(alternatives))
            made, raw = alternatives[tag][1]()
            return made, bytes([tag]) + raw

        of = ", ".join(of for of, _ in alternatives)
        return f"union[{of}]", f"data B-> stack case {' '.join(cases)} 7 halt endcase", value
