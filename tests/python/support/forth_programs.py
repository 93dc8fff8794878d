"""Random AwkwardForth programs that every machine is meant to agree on, and how to drive two machines through one.

Programs keep to what a machine may be asked without dying of it (docs/details/python-forth.md has what awkward's dies of), and
otherwise use every word in any order: with the operands it needs most of the time, without them some of the time.
"""

import itertools
import random
import re
import struct

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
FLAGS = (
    "raise_user_halt",
    "raise_recursion_depth_exceeded",
    "raise_stack_underflow",
    "raise_stack_overflow",
    "raise_read_beyond",
    "raise_seek_beyond",
    "raise_skip_beyond",
    "raise_rewind_beyond",
    "raise_division_by_zero",
    "raise_varint_too_big",
    "raise_text_number_missing",
    "raise_quoted_string_missing",
    "raise_enumeration_missing",
)
QUIET = dict.fromkeys(FLAGS, False)

# Words that neither divide nor control: what they take and leave.
PLAIN = {
    "dup": (1, 2), "drop": (1, 0), "swap": (2, 2), "over": (2, 3), "rot": (3, 3), "nip": (2, 1), "tuck": (2, 3),
    "+": (2, 1), "-": (2, 1), "*": (2, 1), "negate": (1, 1), "1+": (1, 1), "1-": (1, 1), "min": (2, 1), "max": (2, 1),
    "=": (2, 1), "<>": (2, 1), "<": (2, 1), "<=": (2, 1), ">": (2, 1), ">=": (2, 1), "0=": (1, 1), "invert": (1, 1),
    "and": (2, 1), "or": (2, 1), "xor": (2, 1), "lshift": (2, 1), "rshift": (2, 1), "false": (0, 1), "true": (0, 1),
}  # fmt: skip
PLAIN_WORDS = tuple(PLAIN)
FIXED = ("?", "b", "h", "i", "q", "n", "B", "H", "I", "Q", "N", "f", "d")
FLOATS = ("f", "d")
# Of #59bit, #61bit, #62bit and #63bit awkward's machine makes something else.
BITS = (*range(1, 59), 60, 64)
STRINGS = ("ab", "a", "b", "true", "nul", "x y", "")
NUMBERS = ("1.5", "-2.25", "0.75", "12.0", "3e2", "-1E+2", "7", "0.5", "-", "1.", "2e", "1.25e1")
EDGES = (
    2**31 - 1, -(2**31), 2**31, 2**32, 2**32 - 1, 3000000000, -1, 0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, -128,
    65535, 2**62, -(2**63), 2**63 - 1,
)  # fmt: skip


class Word:
    def __init__(self, name, need, delta, cost, leaves):
        self.name = name
        self.need = need
        self.delta = delta
        self.cost = cost
        # Whether an `exit` runs inside: awkward's then removes loops of the caller.
        self.leaves = leaves


class Program:
    """One program, its inputs, and what is known about it."""

    def __init__(self, seed, bits):
        self.random = random.Random(f"{seed}/{bits}")
        self.seed = seed
        self.bits = bits
        self.loops = False
        self.cases = False
        self.prints = False
        # Writes that awkward's machine does not count.
        self.uncounted = False
        # Stepping over an `exit` goes on behind it in awkward's machine.
        self.exits = False
        self.words = []
        self.counters = 0
        self._cost = 0
        self._leaves = False
        pick = self.random
        self.outputs = [(f"out{number}", pick.choice(DTYPES)) for number in range(pick.randrange(1, 5))]
        if pick.random() < 0.3:
            self.outputs.append(("bytes", "uint8"))
        self.variables = ["v", "w"][: pick.randrange(3)]
        parts = []
        for number in range(pick.choice((0, 0, 1, 1, 2, 3))):
            parts.append(self._definition(f"word{number}"))
        parts.append(" ".join(self._body(0, 0, 12, 0, False, False)[0]))
        if pick.random() < 0.05:
            parts.append("halt")
        heads = ["input data", "input text", "input tick"]
        heads += [f"output {name} {dtype}" for name, dtype in self.outputs]
        heads += [f"variable {name}" for name in self.variables]
        heads += [f"variable c{number}" for number in range(self.counters)]
        if pick.random() < 0.5:
            pick.shuffle(heads)
        self.source = "\n".join(heads + parts) + "\n"
        self.limits = {}
        if pick.random() < 0.15:
            self.limits = {"stack_size": pick.choice((1, 2, 3, 5, 8)), "recursion_depth": pick.choice((2, 3, 5, 1024))}
        if pick.random() < 0.2:
            self.limits["output_initial_size"] = pick.choice((1, 2, 10))
            self.limits["output_resize_factor"] = pick.choice((1.0, 1.2, 3.0))
        if pick.random() < 0.1:
            self.limits["string_buffer_size"] = pick.choice((1, 3, 8))
        self.inputs = self.data()

    def data(self):
        """Inputs for it."""
        pick = self.random
        data = bytearray()
        for _ in range(pick.choice((0, 3, 10, 30, 60))):
            kind = pick.randrange(6)
            if kind == 0:
                data.append(pick.randrange(256))
            elif kind == 1:
                data += struct.pack(pick.choice("<>") + pick.choice("hiq"), pick.randrange(-5, 20))
            elif kind == 2:
                data += pick.randbytes(pick.randrange(9))
            elif kind == 3:
                data += struct.pack(pick.choice("<>") + pick.choice("fd"), pick.choice((0.0, 1.5, -2.25, 100.0, -7.75)))
            elif kind == 4:
                data += bytes(pick.randrange(4))
            else:
                data.append(pick.randrange(20))
        # A tenth byte of a number is an error for awkward's machine alone.
        data = re.sub(rb"([\x80-\xff]{8})[\x80-\xff]", lambda high: high[1] + b"\x7f", bytes(data))
        text = []
        for _ in range(pick.choice((0, 2, 8, 20))):
            kind = pick.randrange(7)
            if kind == 0:
                text.append(str(pick.randrange(-1000, 100000)))
            elif kind == 1:
                text.append(pick.choice(NUMBERS))
            elif kind == 2:
                text.append(
                    pick.choice(('"ab"', '""', '"a\\n\\u00e9\\"x"', '"\\u20ac/"', '"open', '"\\q"', '"0123456789"'))
                )
            elif kind == 3:
                text.append(pick.choice(("ab", "a", "b", "true", "nul", "abab")))
            else:
                text.append(pick.choice((" ", "  ", "\n", "\t ", "\r\n", ",")))
        # Numbers that run together are too long, or rounded in different ways.
        text = "".join(f" {one}" if one[0] in "-0123456789" else one for one in text).removeprefix(" ")
        return {"data": data, "text": text.encode(), "tick": bytes(pick.randrange(6))}

    # ---- making it

    def _spend(self, cost):
        self._cost += cost

    def _definition(self, name):
        pick = self.random
        outer, self._cost, self._leaves = self._cost, 0, False
        need = pick.choice((0, 0, 1, 2))
        if pick.random() < 0.2:
            # Counts down to where it ends, or goes on until it is too deep.
            inner, _ = self._body(need + 1, 0, 3, 1, False, True, neutral=True)
            stop = "0 >" if pick.random() < 0.8 else "-1 <>"
            again = "recurse" if pick.random() < 0.7 else name
            masked = "15 and " if pick.random() < 0.9 else ""
            text = f": {name} {masked}dup {stop} if 1- {' '.join(inner)} {again} then ;"
            word = Word(name, max(need, 1), 0, (self._cost + 8) * 16, self._leaves)
        else:
            body, depth = self._body(need, 0, 6, 1, False, True)
            text = f": {name} {' '.join(body)} ;"
            word = Word(name, need, depth - need, self._cost + 2, self._leaves)
        self._cost = outer
        self._leaves = False
        self.words.append(word)
        return text

    def _number(self):
        pick = self.random
        chance = pick.random()
        if chance < 0.8:
            return str(pick.randrange(-6, 40))
        number = pick.choice(EDGES) if chance < 0.95 else pick.randrange(-(2**40), 2**40)
        if chance < 0.85 and number >= 0:
            return hex(number)
        return str(number)

    def _body(self, depth, loops, length, nest, in_do, in_word, neutral=False, no_exit=False):
        """Tokens, and the depth of the stack after them; ``depth`` items are there before."""
        began = depth
        tokens = []
        pick = self.random
        for _ in range(pick.randrange(1, length + 1)):
            if pick.random() < 0.03:
                # Something that may well fail.
                word = pick.choice(PLAIN_WORDS)
                tokens.append(word)
                takes, leaves = PLAIN[word]
                depth = max(depth - takes, 0) + leaves
                continue
            more, depth = self._statement(depth, loops, nest, in_do, in_word, no_exit)
            tokens += more
        if neutral and pick.random() < 0.96:
            while depth > began:
                tokens.append("drop")
                depth -= 1
            while depth < began:
                tokens.append(self._number())
                depth += 1
        self._spend(len(tokens))
        return tokens, depth

    def _operands(self, depth, count):
        tokens = []
        while depth < count:
            tokens.append(self._number())
            depth += 1
        return tokens, depth

    def _statement(self, depth, loops, nest, in_do, in_word, no_exit):
        pick = self.random
        kind = pick.randrange(100)
        if kind < 14 or depth > 30:
            if depth > 30:
                return ["drop"] * 8, depth - 8
            return [self._number()], depth + 1
        if kind < 34:
            word = pick.choice(PLAIN_WORDS)
            takes, leaves = PLAIN[word]
            tokens, depth = self._operands(depth, takes)
            return [*tokens, word], depth - takes + leaves
        if kind < 38:
            return self._division(depth)
        if kind < 50:
            return self._read(depth)
        if kind < 57:
            return self._output(depth)
        if kind < 63:
            return self._input(depth)
        if kind < 66:
            return self._variable(depth)
        if kind < 68:
            if not loops:
                return [self._number()], depth + 1
            return [("i", "j", "k")[pick.randrange(min(loops, 3))]], depth + 1
        if kind < 70:
            return self._string(depth)
        if kind < 72:
            if self.bits == 32:
                tokens, depth = self._operands(depth, 1)
                return [*tokens, "abs"], depth
            # In 64 bits awkward's cuts the number first.
            tokens, depth = self._operands(depth, 1)
            return [*tokens, "65535", "and", "32768", "-", "abs"], depth
        if kind < 74:
            return ["pause"], depth
        if kind < 79 and self.words:
            word = pick.choice(self.words)
            if self._cost + word.cost < 3000 and not (word.leaves and in_do):
                self._spend(word.cost)
                # An exit in a word that is called by this one is one that runs inside this one.
                self._leaves |= word.leaves
                tokens, depth = self._operands(depth, word.need)
                return [*tokens, word.name], depth + word.delta
            return [], depth
        if kind == 79 and not no_exit and not in_do and loops == 0:
            self._leaves |= in_word
            self.exits = True
            tokens, depth = self._operands(depth, 1)
            return [*tokens, "if", "exit", "then"], depth - 1
        if nest > 3 or self._cost > 1500:
            return [self._number()], depth + 1
        return self._structure(depth, loops, nest, in_do, in_word, no_exit)

    def _division(self, depth):
        """The smallest number is never divided by -1, and remainders are small."""
        pick = self.random
        word = pick.choice(("/", "mod", "/mod"))
        after = 1 if word == "/mod" else 0
        if pick.random() < 0.6:
            tokens, depth = self._operands(depth, 1)
            return [*tokens, str(pick.choice((2, 3, 7, -3, -10, 1, 1000, 0))), word], depth + after
        tokens, depth = self._operands(depth, 2)
        return [*tokens, "255", "and", word], depth - 1 + after

    def _count(self, depth):
        """A count of items, of a size that one may read."""
        pick = self.random
        chance = pick.random()
        if chance < 0.5:
            return [str(pick.choice((0, 1, 1, 2, 3, 4, 5, 8, 9, 17, -1, -5)))]
        if chance < 0.6:
            return [str(pick.randrange(40))]
        if chance < 0.62:
            return ["2000000000"]
        if depth > 0:
            return ["dup", "7", "and"]
        return ["data", "B->", "stack", "7", "and"]

    def _read(self, depth):
        pick = self.random
        chance = pick.random()
        source = "data"
        many = pick.random() < 0.4
        if chance < 0.6:
            code = pick.choice(FIXED)
        elif chance < 0.72:
            code = pick.choice(("varint", "zigzag"))
        elif chance < 0.82:
            code = f"{pick.choice(BITS)}bit"
        else:
            source = "text" if pick.random() < 0.9 else "data"
            code = pick.choice(("textint", "textint", "textfloat", "quotedstr"))
        targets = [name for name, dtype in self.outputs]
        if code in FLOATS:
            # Numbers that do not fit become different things.
            targets = [name for name, dtype in self.outputs if not dtype.startswith("uint")]
        elif code == "quotedstr":
            targets = [name for name, dtype in self.outputs if dtype == "uint8"]
        if code in ("textfloat", "quotedstr"):
            if not targets:
                return [], depth
            target = pick.choice(targets)
        else:
            target = pick.choice([*targets, "stack", "stack"])
        tokens = self._count(depth) if many else []
        order = "!" if pick.random() < 0.5 else ""
        if target != "stack" and code not in FIXED:
            self.uncounted = True
        name = f"{'#' if many else ''}{order}{code}->"
        if "bit" in code and many and "2000000000" in tokens:
            tokens = ["9"]
        tokens += [source, name, target]
        return tokens, depth + (target == "stack" or code == "quotedstr")

    def _output(self, depth):
        pick = self.random
        name, _ = pick.choice(self.outputs)
        chance = pick.random()
        if chance < 0.7:
            tokens, depth = self._operands(depth, 1)
            return [*tokens, name, pick.choice(("<-", "+<-")), "stack"], depth - 1
        if chance < 0.8:
            return [name, "len"], depth + 1
        if chance < 0.9:
            return [str(pick.choice((0, 1, 2, 5, -3, 40))), name, "dup"], depth
        return [str(pick.choice((0, 1, 1, 2, 5))), name, "rewind"], depth

    def _input(self, depth):
        pick = self.random
        name = pick.choice(("data", "data", "text"))
        word = pick.choice(("len", "pos", "end", "seek", "skip", "skipws", "peek", "enum", "enumonly"))
        if word in ("len", "pos", "end"):
            return [name, word], depth + 1
        if word == "skipws":
            return [name, word], depth
        if word in ("seek", "skip"):
            return [str(pick.choice((0, 1, 2, 3, 6, 10, -1, 500))), name, word], depth
        if word == "peek":
            return [str(pick.choice((0, 0, 1, 5, -1, 500))), name, word], depth + 1
        name = "text" if pick.random() < 0.9 else "data"
        strings = [f's" {text}"' for text in pick.sample(STRINGS, pick.randrange(1, 4))]
        # Strings that follow would belong to the list.
        return [name, word, *strings, "dup", "drop"], depth + 1

    def _variable(self, depth):
        if not self.variables:
            return [self._number()], depth + 1
        pick = self.random
        name = pick.choice(self.variables)
        if pick.random() < 0.4:
            return [name, "@"], depth + 1
        tokens, depth = self._operands(depth, 1)
        return [*tokens, name, pick.choice(("!", "+!"))], depth - 1

    def _string(self, depth):
        pick = self.random
        if pick.random() < 0.6:
            return [f's" {pick.choice(STRINGS)}"'], depth + 2
        self.prints = True
        word = pick.choice((".", "cr", ".s", f'." {pick.choice(STRINGS)}"'))
        if word == ".":
            tokens, depth = self._operands(depth, 1)
            return [*tokens, word], depth - 1
        return [word], depth

    def _structure(self, depth, loops, nest, in_do, in_word, no_exit):
        pick = self.random
        kind = pick.randrange(10)
        before = self._cost
        if kind < 3:
            tokens, depth = self._operands(depth, 1)
            depth -= 1
            body, _ = self._body(depth, loops, 4, nest + 1, in_do, in_word, neutral=True, no_exit=no_exit)
            tokens += ["if", *body]
            if pick.random() < 0.5:
                body, _ = self._body(depth, loops, 4, nest + 1, in_do, in_word, neutral=True, no_exit=no_exit)
                tokens += ["else", *body]
            return [*tokens, "then"], depth
        if kind < 6:
            self.loops = True
            times = pick.choice(("0", "1", "2", "3", "5", "9", "-2", "data B-> stack 7 and", "data B-> stack 3 and"))
            body, _ = self._body(depth, loops + 1, 4, nest + 1, True, in_word, neutral=True, no_exit=True)
            self._spend((self._cost - before) * 8)
            if pick.random() < 0.2:
                return [times, str(pick.choice((0, 1, -3))), "do", *body, pick.choice(("1", "2", "3")), "+loop"], depth
            return [times, str(pick.choice((0, 0, 0, 1, -3))), "do", *body, "loop"], depth
        if kind < 9:
            return self._begin(depth, loops, nest, in_do, in_word, no_exit)
        return self._case(depth, loops, nest, in_do, in_word, no_exit)

    def _begin(self, depth, loops, nest, in_do, in_word, no_exit):
        pick = self.random
        before = self._cost
        body, _ = self._body(depth, loops, 4, nest + 1, in_do, in_word, neutral=True, no_exit=no_exit)
        self._spend((self._cost - before) * 6)
        if pick.random() < 0.2:
            # Ends when there is no more of what nothing else reads.
            return ["begin", *body, "tick", "b->", "stack", "drop", "again"], depth
        counter = f"c{self.counters}"
        self.counters += 1
        times = str(pick.randrange(1, 5))
        if pick.random() < 0.5:
            return ["0", counter, "!", "begin", *body, "1", counter, "+!", counter, "@", times, ">=", "until"], depth
        head = [counter, "@", times, "<"]
        return ["0", counter, "!", "begin", *head, "while", "1", counter, "+!", *body, "repeat"], depth

    def _case(self, depth, loops, nest, in_do, in_word, no_exit):
        pick = self.random
        self.cases = True
        count = pick.randrange(1, 4)
        table = pick.random() < 0.5
        tokens = [str(pick.randrange(-1, 4))] if pick.random() < 0.6 else ["data", "B->", "stack", "3", "and"]
        tokens.append("case")
        for number in range(count):
            body, _ = self._body(depth, loops, 3, nest + 1, in_do, in_word, neutral=True, no_exit=True)
            tokens += [str(number if table else 2 * number + 1), "of", *body, "endof"]
        if pick.random() < 0.5:
            body, _ = self._body(depth + 1, loops, 3, nest + 1, in_do, in_word, neutral=True, no_exit=True)
            tokens += body
        return [*tokens, "endcase"], depth


def state(machine, program, counted=False):
    """Everything that can be seen of a machine."""
    seen = {
        "stack": machine.stack,
        "variables": machine.variables,
        "ready": machine.is_ready,
        "done": machine.is_done,
        "position": machine.current_bytecode_position,
        "depth": machine.current_recursion_depth,
        "inputs": [machine.input_position(name) for name in ("data", "text", "tick")],
    }
    outputs = {}
    for name, array in machine.outputs.items():
        # A bool is not false, whatever its byte.
        data = (array.view("uint8") != 0).tobytes() if array.dtype == bool else array.tobytes()
        outputs[name] = (array.dtype.str, len(array), data)
    seen["outputs"] = outputs
    if counted:
        seen["instructions"] = machine.count_instructions
        seen["reads"] = machine.count_reads
        if not program.uncounted:
            seen["writes"] = machine.count_writes
    return seen


def drive(make, program, counted=False):
    """Runs a program with pauses, pushes, calls and new inputs, and tells what was seen at each stop."""
    pick = random.Random(program.seed)
    machine = make(program.source, **program.limits)
    # Writable, since awkward's machine wants it.
    inputs = {name: bytearray(data) for name, data in program.inputs.items()}
    yield ("begin", machine.begin(inputs), None)
    error = None
    # A structure that ends on top of a paused `do` loop costs that loop a pass in awkward's machine.
    on_top = "nothing" if "do" in program.source.split() else pick.choice(("nothing", "nothing", "word", "main"))
    for _ in range(12):
        if pick.random() < 0.3 and len(machine.stack) < machine.stack_max_depth:
            machine.stack_push(pick.randrange(5))
        error = machine.resume(**QUIET)
        yield ("resume", error, state(machine, program, counted))
        if error is not None or machine.is_done:
            break
        if machine.stack and pick.random() < 0.2:
            yield ("pop", machine.stack_pop(), None)
        if on_top == "word" and program.words and pick.random() < 0.4:
            error = machine.call(pick.choice(program.words).name, **QUIET)
            yield ("call on top", error, state(machine, program, counted))
            if error is not None:
                break
        if on_top == "main" and pick.random() < 0.4:
            yield from _anew(machine, program)
            return
    if error is None and machine.is_done and pick.random() < 0.5:
        if program.words and pick.random() < 0.6:
            word = pick.choice(program.words)
            error = machine.call(word.name, **QUIET)
            yield ("call", error, state(machine, program, counted))
            for _ in range(8):
                if error is not None or machine.is_done:
                    break
                error = machine.resume(**QUIET)
                yield ("resume", error, state(machine, program, counted))
        if error is None and machine.is_done:
            machine.begin_again({name: bytearray(data) for name, data in program.inputs.items()}, pick.random() < 0.9)
            if not machine.is_done:
                error = machine.resume(**QUIET)
                yield ("begin again", error, state(machine, program, counted))


def _anew(machine, program):
    """Starts the main program again while it is paused, and runs both to their ends.

    Awkward's machine then loses count of what is pending: one more `resume` does nothing, and the next begins once more.
    So only what the programs do is told."""
    told = ("stack", "variables", "inputs", "outputs")
    machine.begin_again({name: bytearray(data) for name, data in program.inputs.items()})
    for _ in range(12):
        error = machine.resume(**QUIET)
        seen = state(machine, program, False)
        yield ("anew", error, {name: seen[name] for name in told})
        if error is not None or machine.is_done or machine.current_recursion_depth <= 0:
            break


def _instructions(machine):
    """Positions where an instruction begins that is a whole phrase: not `again`, `until` and `while`, nor bodies."""
    codes, offsets = machine.bytecodes, machine.bytecodes_offsets
    operands = {0: 1, 3: 1, 4: 2, 5: 2, 6: 1, 7: 1, 10: 1, 11: 1, 15: 3, 16: 3} | dict.fromkeys(
        (*range(12, 15), *range(17, 31)), 1
    )
    starts = set()
    for first, last in itertools.pairwise(offsets):
        at = first
        while at < last:
            code = codes[at]
            if code not in (8, 9, 10):
                starts.add(at)
            if code < 0:
                flags = ~code
                at += 1 + 1 + (flags // 8 == 16) + (flags & 1)
            elif code == 3:
                at += 2
            else:
                at += 1 + operands.get(code, 0)
    return starts


def step(make, program, most=300):
    """Runs a program instruction by instruction."""
    machine = make(program.source, **program.limits)
    machine.begin({name: bytearray(data) for name, data in program.inputs.items()})
    starts = _instructions(machine)
    for _ in range(most):
        position = machine.current_bytecode_position
        # A place in the middle of a phrase has no text that is worth agreeing on.
        instruction = machine.current_instruction if position >= 0 and position in starts else None
        yield position, machine.current_recursion_depth, instruction
        error = machine.step(**QUIET)
        yield error, machine.stack, machine.is_done
        if error is not None or machine.is_done:
            break
    seen = state(machine, program)
    # Where an instruction stands that failed is compared elsewhere.
    del seen["position"]
    yield seen
