r"""AwkwardForth machines, compatible with those of ``awkward.forth``.

>>> from forthwith.forth import ForthMachine64
>>> machine = ForthMachine64('''
...     input data
...     output offsets int64
...     output content float32
...     0 offsets <- stack
...     0 do  data !I-> stack dup offsets +<- stack  data #!f-> content  loop
... ''')
>>> machine.begin({"data": b"\x00\x00\x00\x01\x3f\x80\x00\x00\x00\x00\x00\x00"})
>>> machine.stack_push(2)
>>> machine.resume()
>>> machine.outputs  # doctest: +SKIP
{'offsets': array([0, 1, 1]), 'content': array([1.], dtype=float32)}

Constructors, properties, methods, flags and exceptions are those of Awkward Array.
docs/details/python-forth.md lists the differences: inputs may be read-only, no program aborts the process,
and some mistakes are errors. NumPy is imported on first access to an output.
"""

from __future__ import annotations

from forthwith._errors import ForthCompileError, ForthRunError, RequestError
from forthwith._forthwith import Machine
from forthwith._packages import package
from forthwith._show import Text
from forthwith.builders.typed import described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from forthwith._forthwith import Items

    Inputs: TypeAlias = Mapping[str, Any]

__all__ = ["ForthMachine32", "ForthMachine64", "ForthCompileError", "ForthRunError"]

# The errors that may be returned by name, in the order of the flags.
_NAMES = (
    "user halt",
    "recursion depth exceeded",
    "stack underflow",
    "stack overflow",
    "read beyond",
    "seek beyond",
    "skip beyond",
    "rewind beyond",
    "division by zero",
    "varint too big",
    "text number missing",
    "quoted string missing",
    "enumeration missing",
)


def __dir__() -> list[str]:
    return __all__


def _array(items: Items) -> NDArray[Any]:
    import numpy as np

    return np.asarray(items)


def _answer(error: ForthRunError, *flags: bool) -> str:
    """Raises an error, or returns its name if its flag is false."""
    if flags[_NAMES.index(error.name)]:
        raise error
    return error.name


class _ForthMachine:
    """The common base of machines of both widths.

    A machine is compiled from ``source`` and run by `begin` (or `run`) with inputs, and `resume` after a
    ``pause``. Several threads may share a machine, but only one may use it while it runs: others get a
    `RuntimeError`.

    Args:
        source: The program.
        stack_size: Maximum number of items on the stack.
        recursion_depth: Maximum number of active words and structure bodies, including ``do`` loops.
        string_buffer_size: Maximum number of bytes of strings that ``quotedstr->`` decodes.
        output_initial_size: Initial capacity of each output in items, allocated on the first write.
        output_resize_factor: Factor by which the capacity of an output grows.
        tier: 0 interprets each instruction and counts exactly; 1 compiles loops if possible. ``None``
            selects.
        output_limit: Maximum size of all outputs in bytes, beyond which a run raises a `MemoryError`.
        literal_width: Width of literals in ``source`` in bits, 32 or 64; larger numbers are truncated, with a
            `SyntaxWarning`.
    """

    __slots__ = ("__weakref__", "_core", "_sizes")
    _bits = 64

    abi_version = 1

    def __init__(
        self,
        source: str | bytes,
        stack_size: int = 1024,
        recursion_depth: int = 1024,
        string_buffer_size: int = 1024,
        output_initial_size: int = 1024,
        output_resize_factor: float = 1.5,
        *,
        tier: int | None = None,
        output_limit: int | None = None,
        literal_width: int = 32,
    ) -> None:
        if isinstance(source, bytes):
            source = source.decode()
        sizes = (stack_size, recursion_depth, string_buffer_size, output_initial_size, output_resize_factor)
        self._core = Machine(source, self._bits, *sizes, tier, output_limit, literal_width)
        self._sizes = sizes
        cut = self._core.cut_literals
        if cut:
            import warnings

            line, column = cut[0]
            more = f" (and {len(cut) - 1} more)" if len(cut) > 1 else ""
            warnings.warn(
                f"the number at line {line} col {column}{more} does not fit 32 bits and was cut",
                SyntaxWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} {self._core.describe()}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle {type(self).__qualname__!r} object")

    # ---- the program

    @property
    def source(self) -> Text:
        """The source text."""
        return Text(self._core.source)

    @property
    def bytecodes(self) -> list[int]:
        """The bytecode of all segments."""
        return self._core.bytecodes

    @property
    def bytecodes_offsets(self) -> list[int]:
        """Offset of each segment in `bytecodes`, and the end of the last."""
        return self._core.bytecodes_offsets

    @property
    def decompiled(self) -> Text:
        """The program in canonical layout, decompiled from its bytecode."""
        return Text(self._core.decompiled)

    @property
    def dictionary(self) -> list[str]:
        """Names of user-defined words in the order of their definitions."""
        return self._core.dictionary

    @property
    def stack_max_depth(self) -> int:
        """The ``stack_size`` given."""
        return int(self._sizes[0])

    @property
    def recursion_max_depth(self) -> int:
        """The ``recursion_depth`` given."""
        return int(self._sizes[1])

    @property
    def string_buffer_size(self) -> int:
        """The ``string_buffer_size`` given."""
        return int(self._sizes[2])

    @property
    def output_initial_size(self) -> int:
        """The ``output_initial_size`` given."""
        return int(self._sizes[3])

    @property
    def output_resize_factor(self) -> float:
        """The ``output_resize_factor`` given."""
        return float(self._sizes[4])

    def explain(self) -> Text:
        """Describes which loops are compiled, which are not, and why."""
        return Text(self._core.explain())

    def string_at(self, number: int) -> str:
        """Returns the string literal of this number, as ``s"`` pushes it."""
        text = self._core.string_at(number)
        return f"a string at {number} is undefined" if text is None else text

    def is_variable(self, name: str) -> bool:
        """Whether the program declares a variable of this name."""
        return self._core.is_variable(name)

    def is_input(self, name: str) -> bool:
        """Whether the program declares an input of this name."""
        return self._core.is_input(name)

    def is_output(self, name: str) -> bool:
        """Whether the program declares an output of this name."""
        return self._core.is_output(name)

    def is_defined(self, name: str) -> bool:
        """Whether the program defines a word of this name."""
        return self._core.is_defined(name)

    # ---- its state

    @property
    def stack(self) -> list[int]:
        """The stack, top last."""
        return self._core.stack

    @property
    def variables(self) -> dict[str, int]:
        """The variables by name."""
        return self._core.variables

    @property
    def outputs(self) -> dict[str, NDArray[Any]]:
        """The outputs by name, as arrays that later runs do not modify.

        They are views of the machine's memory. Within one run, items that the program removes with ``rewind``
        and writes again change.
        """
        outputs = self._core.outputs()
        if outputs is None:
            raise RequestError("output not found: nothing was begun")
        return {name: _array(items) for name, items in outputs}

    def array(
        self,
        form_or_type: Any,
        *,
        behavior: Mapping[Any, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Any:
        r"""Returns the outputs as an ``ak.Array`` of a type, without a copy.

        >>> machine = ForthMachine64('''
        ...     input data  output id uint64  output offsets int64  output xs float32
        ...     0 offsets <- stack
        ...     begin data end invert while
        ...       data Q-> id  data B-> stack dup offsets +<- stack data #f-> xs
        ...     repeat
        ... ''')
        >>> machine.run({"data": bytes(8) + b"\x01" + bytes(4)})
        >>> machine.array("{id: uint64, xs: var * float32}").to_list()
        [{'id': 0, 'xs': [0.0]}]

        ``form_or_type`` is a type or Form as in `forthwith.TypedArrayBuilder`: text, an ``ak.types`` object,
        or a Form. Outputs are assigned to it in the order of their declarations, from left to right,
        independently of their names: a number is one output of its dtype; a list is its offsets (int64, int32
        or uint32, from 0), then its items; text is offsets, then uint8; ``?x`` is an index (int64 or int32,
        -1 for null), then the present values, or a mask (bool or int8, 1 for present), then values for all
        entries; a union is tags (int8), an index, then its alternatives; records and tuples are their fields.
        Outputs that do not match raise a `RequestError` with the position in the type; decreasing offsets,
        invalid indexes or tags, and text that is not valid UTF-8 raise one with the item of the output.
        """
        form, length, buffers = self._core.bind(described(form_or_type))
        arrays = {key: self.output(name) for key, name in buffers}
        return package("awkward").from_buffers(form, length, arrays, behavior=behavior, attrs=attrs)

    def output(self, name: str) -> NDArray[Any]:
        """Returns one of the `outputs`."""
        items = self._core.output(name)
        if items is None:
            raise RequestError(f"output not found: {name}")
        return _array(items)

    def input_position(self, name: str) -> int:
        """Returns the position in an input in bytes."""
        position = self._core.input_position(name)
        if position is None:
            raise RequestError(f"input not found: {name}")
        return position

    def __getitem__(self, name: str) -> int | NDArray[Any]:
        """Returns the value of a variable, the array of an output, or the bytecode of a user-defined word."""
        if not isinstance(name, str):
            raise TypeError("names of variables, outputs and words are strings")
        value = self._core.variable(name)
        if value is not None:
            return value
        if self._core.is_output(name):
            return self.output(name)
        word = self._core.word(name)
        if word is None:
            raise RequestError(f"unrecognized AwkwardForth variable/output/dictionary word: {name}")
        import numpy as np

        codes: NDArray[np.int32] = np.asarray(word, dtype=np.int32)
        return codes

    @property
    def is_ready(self) -> bool:
        """Whether the program was begun and has not ended with ``halt``."""
        return self._core.is_ready

    @property
    def is_done(self) -> bool:
        """Whether the program is at its end."""
        return self._core.is_done

    @property
    def is_segment_done(self) -> bool:
        """Whether the current body is at its end."""
        return self._core.is_segment_done

    @property
    def current_bytecode_position(self) -> int:
        """Position of the next instruction in `bytecodes`; -1 at the end of a body and when done."""
        position = self._core.current_bytecode_position
        return -1 if position is None else position

    @property
    def current_recursion_depth(self) -> int:
        """Number of active words and bodies, 1 in the main program and -1 when done."""
        depth = self._core.current_recursion_depth
        return -1 if depth is None else depth

    @property
    def current_instruction(self) -> str:
        """The next instruction; raises a `ValueError` at the end."""
        return self._core.current_instruction

    # ---- its counters

    def _count(self, which: int) -> int:
        counters = self._core.counters
        if not counters[4]:
            import warnings

            warnings.warn(
                "loops that ran natively are not in this count; make the machine with tier=0 to count everything",
                RuntimeWarning,
                stacklevel=3,
            )
        return counters[which]

    @property
    def count_instructions(self) -> int:
        """Number of executed instructions since `count_reset`; exact without compiled loops."""
        return self._count(0)

    @property
    def count_reads(self) -> int:
        """Number of executed parser instructions; exact without compiled loops."""
        return self._count(1)

    @property
    def count_writes(self) -> int:
        """Number of executed instructions that append to an output; exact without compiled loops."""
        return self._count(2)

    @property
    def count_nanoseconds(self) -> int:
        """Time spent in `run`, `resume`, `step` and `call`, in nanoseconds."""
        return self._core.counters[3]

    def count_reset(self) -> None:
        """Sets all counters to zero."""
        self._core.count_reset()

    # ---- driving it

    def begin(self, inputs: Inputs | None = None) -> None:
        """Resets the state, creates outputs, and moves to the first instruction.

        ``inputs`` has an object with the buffer protocol for each declared input. They are not copied, and
        held until they are replaced or `reset` is called.
        """
        self._core.begin(inputs)

    def begin_again(self, inputs: Inputs, reset_instruction: bool = True, *, clear_error: bool = False) -> None:
        """Replaces the inputs, keeping stack, variables and outputs.

        With ``reset_instruction``, the main program starts again, on top of active words; otherwise the
        program continues. ``clear_error`` clears the error at which the machine stopped; otherwise there must
        not be one.
        """
        self._core.begin_again(inputs, reset_instruction, clear_error)

    def reset(self) -> None:
        """Resets everything except the counters, and releases the inputs."""
        self._core.reset()

    def stack_push(self, value: int) -> None:
        """Pushes a value."""
        self._core.stack_push(value)

    def stack_pop(self) -> int:
        """Pops a value."""
        return self._core.stack_pop()

    def stack_clear(self) -> None:
        """Empties the stack."""
        self._core.stack_clear()

    def run(
        self,
        inputs: Inputs | None = None,
        raise_user_halt: bool = True,
        raise_recursion_depth_exceeded: bool = True,
        raise_stack_underflow: bool = True,
        raise_stack_overflow: bool = True,
        raise_read_beyond: bool = True,
        raise_seek_beyond: bool = True,
        raise_skip_beyond: bool = True,
        raise_rewind_beyond: bool = True,
        raise_division_by_zero: bool = True,
        raise_varint_too_big: bool = True,
        raise_text_number_missing: bool = True,
        raise_quoted_string_missing: bool = True,
        raise_enumeration_missing: bool = True,
    ) -> str | None:
        """Calls `begin` and `resume`.

        The program runs until its end, a ``pause`` or an error, without holding the interpreter. An error is
        raised, or its name is returned if its flag is False.
        """
        error = self._core.run(inputs)
        if error is None:
            return None
        return _answer(
            error,
            raise_user_halt,
            raise_recursion_depth_exceeded,
            raise_stack_underflow,
            raise_stack_overflow,
            raise_read_beyond,
            raise_seek_beyond,
            raise_skip_beyond,
            raise_rewind_beyond,
            raise_division_by_zero,
            raise_varint_too_big,
            raise_text_number_missing,
            raise_quoted_string_missing,
            raise_enumeration_missing,
        )

    def resume(
        self,
        raise_user_halt: bool = True,
        raise_recursion_depth_exceeded: bool = True,
        raise_stack_underflow: bool = True,
        raise_stack_overflow: bool = True,
        raise_read_beyond: bool = True,
        raise_seek_beyond: bool = True,
        raise_skip_beyond: bool = True,
        raise_rewind_beyond: bool = True,
        raise_division_by_zero: bool = True,
        raise_varint_too_big: bool = True,
        raise_text_number_missing: bool = True,
        raise_quoted_string_missing: bool = True,
        raise_enumeration_missing: bool = True,
    ) -> str | None:
        """Continues until the end, a ``pause`` or an error. See `run`."""
        error = self._core.resume()
        if error is None:
            return None
        return _answer(
            error,
            raise_user_halt,
            raise_recursion_depth_exceeded,
            raise_stack_underflow,
            raise_stack_overflow,
            raise_read_beyond,
            raise_seek_beyond,
            raise_skip_beyond,
            raise_rewind_beyond,
            raise_division_by_zero,
            raise_varint_too_big,
            raise_text_number_missing,
            raise_quoted_string_missing,
            raise_enumeration_missing,
        )

    def step(
        self,
        raise_user_halt: bool = True,
        raise_recursion_depth_exceeded: bool = True,
        raise_stack_underflow: bool = True,
        raise_stack_overflow: bool = True,
        raise_read_beyond: bool = True,
        raise_seek_beyond: bool = True,
        raise_skip_beyond: bool = True,
        raise_rewind_beyond: bool = True,
        raise_division_by_zero: bool = True,
        raise_varint_too_big: bool = True,
        raise_text_number_missing: bool = True,
        raise_quoted_string_missing: bool = True,
        raise_enumeration_missing: bool = True,
    ) -> str | None:
        """Runs one instruction. See `run`."""
        error = self._core.step()
        if error is None:
            return None
        return _answer(
            error,
            raise_user_halt,
            raise_recursion_depth_exceeded,
            raise_stack_underflow,
            raise_stack_overflow,
            raise_read_beyond,
            raise_seek_beyond,
            raise_skip_beyond,
            raise_rewind_beyond,
            raise_division_by_zero,
            raise_varint_too_big,
            raise_text_number_missing,
            raise_quoted_string_missing,
            raise_enumeration_missing,
        )

    def call(
        self,
        name: str,
        raise_user_halt: bool = True,
        raise_recursion_depth_exceeded: bool = True,
        raise_stack_underflow: bool = True,
        raise_stack_overflow: bool = True,
        raise_read_beyond: bool = True,
        raise_seek_beyond: bool = True,
        raise_skip_beyond: bool = True,
        raise_rewind_beyond: bool = True,
        raise_division_by_zero: bool = True,
        raise_varint_too_big: bool = True,
        raise_text_number_missing: bool = True,
        raise_quoted_string_missing: bool = True,
        raise_enumeration_missing: bool = True,
    ) -> str | None:
        """Runs a user-defined word on top of active ones, to its end, a ``pause`` or an error. See `run`."""
        error = self._core.call(name)
        if error is None:
            return None
        return _answer(
            error,
            raise_user_halt,
            raise_recursion_depth_exceeded,
            raise_stack_underflow,
            raise_stack_overflow,
            raise_read_beyond,
            raise_seek_beyond,
            raise_skip_beyond,
            raise_rewind_beyond,
            raise_division_by_zero,
            raise_varint_too_big,
            raise_text_number_missing,
            raise_quoted_string_missing,
            raise_enumeration_missing,
        )


class ForthMachine32(_ForthMachine):
    """An AwkwardForth machine with a stack and variables of 32 bits."""

    __slots__ = ()
    _bits = 32


class ForthMachine64(_ForthMachine):
    """An AwkwardForth machine with a stack and variables of 64 bits."""

    __slots__ = ()
    _bits = 64
