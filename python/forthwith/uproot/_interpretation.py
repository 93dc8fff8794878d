"""What a branch is read as, in uproot's words.

An interpretation describes how forthwith reads a branch anyway. One that is given to ``array`` or ``arrays`` chooses another
dtype for the same bytes (`AsDtype`, and `AsJagged` of one); any other has to be the branch's own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from forthwith._errors import UnsupportedError, place_text
from forthwith._packages import package
from forthwith.uproot._containers import AsContainer, content_key, content_name
from forthwith.uproot._dtypes import dtype_key, dtype_name, native, split_dtype
from forthwith.uproot._errors import CannotBeAwkward


class _Said:
    """A function that gives a text."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self) -> str:
        return self.text


@lru_cache(1024)
def form_of(text: str) -> Any:
    """A Form, which many branches share."""
    form = package("awkward").forms.from_json(text)
    # coffea asks each branch for it.
    form.to_json = _Said(form.to_json())
    return form


class Interpretation:
    """What a branch is read as."""

    _tree: Any = None
    _index: int
    # The Form of all branches that share it, in JSON.
    form: str | None = None

    @property
    def branch(self) -> Any:
        """The branch it belongs to, or ``None``."""
        # One that held its branch, which holds it, would keep both until garbage is collected.
        return None if self._tree is None else self._tree._branch(self._index)

    @branch.setter
    def branch(self, branch: Any) -> None:
        self._tree, self._index = branch._tree, branch._index

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        raise NotImplementedError

    @property
    def typename(self) -> str:
        """The C++ type."""
        raise NotImplementedError

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of the array that NumPy gets."""
        return np.dtype(object)

    def awkward_form(self, file: Any = None, context: Any = None, **options: Any) -> Any:
        """The Awkward Form of what is read."""
        if self.form is not None:
            return form_of(self.form)
        if self.branch is None:
            raise CannotBeAwkward(f"{self!r} belongs to no branch")
        return self.branch._form()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.cache_key == getattr(other, "cache_key", None)

    def __hash__(self) -> int:
        return hash(self.cache_key)


class Numerical(Interpretation):
    """Numbers."""


class AsDtype(Numerical):
    """Numbers of one dtype, or arrays of one shape, or records of such."""

    def __init__(self, from_dtype: Any, to_dtype: Any = None) -> None:
        self._from = np.dtype(from_dtype)
        self._to = native(self._from) if to_dtype is None else np.dtype(to_dtype)

    @property
    def from_dtype(self) -> np.dtype[Any]:
        """The dtype in the file."""
        found: np.dtype[Any] = self._from
        return found

    @property
    def to_dtype(self) -> np.dtype[Any]:
        """The dtype of the array."""
        return self._to

    @property
    def itemsize(self) -> int:
        """Bytes of an entry in the file."""
        return int(self._from.itemsize)

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """The shape of an entry."""
        return split_dtype(self._from)[1]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of the array that NumPy gets."""
        return self._to

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"{type(self).__name__}({dtype_key(self._from)},{dtype_key(self._to)})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return dtype_name(self._from)

    def awkward_form(self, file: Any = None, context: Any = None, **options: Any) -> Any:
        """The Awkward Form of what is read."""
        if self.form is not None:
            return form_of(self.form)
        import awkward as ak

        inner, shape = split_dtype(self._to)
        form = ak.forms.from_dtype(native(inner))
        for size in reversed(shape):
            form = ak.forms.RegularForm(form, size)
        return form

    def inplace(self, array: Any) -> AsDtypeInPlace:
        """The same numbers, which are put into an array."""
        return AsDtypeInPlace(array, self._from)

    def reshape(self, shape: tuple[int, ...]) -> AsDtype:
        """The same numbers in another shape."""
        source, target = split_dtype(self._from)[0], split_dtype(self._to)[0]
        return AsDtype(np.dtype((source, shape)), np.dtype((target, shape)))

    def __repr__(self) -> str:
        if self._to == native(self._from):
            return f"{type(self).__name__}({str(self._from)!r})"
        return f"{type(self).__name__}({str(self._from)!r}, {str(self._to)!r})"


class AsDtypeInPlace(AsDtype):
    """Numbers that are put into an array that there is already.

    Args:
        to_fill: The array.
        from_dtype: The dtype in the file; by default that of the array, big-endian.
    """

    def __init__(self, to_fill: Any, from_dtype: Any = None) -> None:
        super().__init__(to_fill.dtype.newbyteorder(">") if from_dtype is None else from_dtype, to_fill.dtype)
        self._to_fill = to_fill

    @property
    def to_fill(self) -> Any:
        """The array."""
        return self._to_fill


class TruncatedNumerical(Numerical):
    """Numbers that ROOT packed: ``Double32_t`` and ``Float16_t``."""

    _to: str

    def __init__(self, low: float, high: float, num_bits: int, to_dims: tuple[int, ...] = ()) -> None:
        self.low, self.high, self.num_bits, self.to_dims = low, high, num_bits, to_dims

    @property
    def is_truncated(self) -> bool:
        """Whether the file has a float with a short mantissa, and no integer."""
        return self.low == 0.0 and self.high == 0.0

    @property
    def from_dtype(self) -> np.dtype[Any]:
        """The dtype in the file."""
        return np.dtype([("exponent", ">u1"), ("mantissa", ">u2")]) if self.is_truncated else np.dtype(">u4")

    @property
    def to_dtype(self) -> np.dtype[Any]:
        """The dtype of the array."""
        return np.dtype((np.dtype(self._to), self.to_dims))

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of the array that NumPy gets."""
        return self.to_dtype

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return repr(self)

    def __repr__(self) -> str:
        dims = f", to_dims={self.to_dims!r}" if self.to_dims else ""
        return f"{type(self).__name__}({self.low!r}, {self.high!r}, {self.num_bits!r}{dims})"


class AsDouble32(TruncatedNumerical):
    """A ``Double32_t``."""

    _to = "f8"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return "Double32_t" + "".join(f"[{size}]" for size in self.to_dims)


class AsFloat16(TruncatedNumerical):
    """A ``Float16_t``."""

    _to = "f4"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return "Float16_t" + "".join(f"[{size}]" for size in self.to_dims)


class AsSTLBits(Numerical):
    """A ``std::bitset`` of so many bytes."""

    def __init__(self, num_bytes: int) -> None:
        self.num_bytes = num_bytes

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"AsSTLBits({self.num_bytes})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"std::bitset<{self.num_bytes * 8}>"

    def __repr__(self) -> str:
        return f"AsSTLBits({self.num_bytes})"


class AsJagged(Interpretation):
    """Lists of numbers.

    Args:
        content: What the numbers are.
        header_bytes: Bytes before the numbers of an entry.
        typename: The C++ type, if it is not that of the content with brackets.
        original: The interpretation of the same branch as objects.
    """

    def __init__(self, content: Any, header_bytes: int = 0, typename: str | None = None, original: Any = None) -> None:
        self._content = content if isinstance(content, Numerical) else AsDtype(content)
        self._header_bytes = header_bytes
        self._typename = typename
        self._original = original

    @property
    def content(self) -> Numerical:
        """What the numbers are."""
        return self._content

    @property
    def header_bytes(self) -> int:
        """Bytes before the numbers of an entry."""
        return self._header_bytes

    @property
    def original(self) -> Any:
        """The interpretation of the same branch as objects."""
        return self._original

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"AsJagged({self._content.cache_key},{self._header_bytes})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return self._typename or f"{self._content.typename}[]"

    def awkward_form(self, file: Any = None, context: Any = None, **options: Any) -> Any:
        """The Awkward Form of what is read."""
        if self.form is not None:
            return form_of(self.form)
        import awkward as ak

        return ak.forms.ListOffsetForm("i64", self._content.awkward_form(file, context))

    def __repr__(self) -> str:
        header = f", header_bytes={self._header_bytes}" if self._header_bytes else ""
        return f"AsJagged({self._content!r}{header})"


class AsStrings(Interpretation):
    """Texts.

    Args:
        header_bytes: Bytes before the text of an entry.
        length_bytes: ``"1-5"`` for ROOT's usual counts, ``"4"`` for whole numbers of four bytes.
        typename: The C++ type.
        original: The interpretation of the same branch as objects.
    """

    def __init__(
        self, header_bytes: int = 0, length_bytes: str = "1-5", typename: str | None = None, original: Any = None
    ) -> None:
        self.header_bytes, self.length_bytes = header_bytes, length_bytes
        self._typename, self.original = typename, original

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"AsStrings({self.header_bytes},{self.length_bytes!r})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return self._typename or "char*"

    def __repr__(self) -> str:
        said = []
        if self.header_bytes:
            said.append(f"header_bytes={self.header_bytes}")
        if self.length_bytes != "1-5":
            said.append(f"length_bytes={self.length_bytes!r}")
        return f"AsStrings({', '.join(said)})"


class AsObjects(Interpretation):
    """Objects: containers and classes."""

    def __init__(self, model: Any, branch: Any = None) -> None:
        self._model = model
        if branch is not None:
            self.branch = branch

    @property
    def model(self) -> Any:
        """The container or the class."""
        return self._model

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"{type(self).__name__}({content_key(self._model)})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return content_name(self._model)

    def simplify(self) -> AsObjects:
        """The same: there is nothing simpler here."""
        return self

    def __repr__(self) -> str:
        model = self._model
        shown = model.__name__ if isinstance(model, type) else repr(model)
        return f"{type(self).__name__}({shown})"


class AsStridedObjects(AsObjects):
    """Objects of a class whose members are numbers."""

    def __init__(self, model: Any, branch: Any = None, to_dtype: np.dtype[Any] | None = None) -> None:
        super().__init__(model, branch)
        self._to_dtype = to_dtype

    @property
    def to_dtype(self) -> np.dtype[Any]:
        """The members of a branch that is read so, by their paths."""
        if self._to_dtype is None:
            raise UnsupportedError(f"the dtype of {self!r}, which is of no branch")
        return self._to_dtype


class AsGrouped(Interpretation):
    """The branches in a branch that only groups them."""

    def __init__(self, branch: Any, subbranches: dict[str, Any], typename: str | None = None) -> None:
        self.branch, self._subbranches, self._typename = branch, subbranches, typename

    @property
    def subbranches(self) -> dict[str, Any]:
        """The interpretations of the branches in it."""
        return self._subbranches

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        inner = ",".join(f"{name!r}:{one.cache_key}" for name, one in self._subbranches.items())
        return f"AsGrouped({self.branch.name},[{inner}])"

    @property
    def typename(self) -> str:
        """The C++ type."""
        if self._typename is not None:
            return self._typename
        inner = "; ".join(f"{one.typename} {name}" for name, one in self._subbranches.items())
        return f"group of {{{inner}}}"

    def __repr__(self) -> str:
        inner = ", ".join(f"{name!r}: {one!r}" for name, one in self._subbranches.items())
        return f"AsGrouped({{{inner}}})"


class UnknownInterpretation(Interpretation):
    """A branch that cannot be read."""

    def __init__(self, reason: str, file_path: str, object_path: str) -> None:
        self.reason, self.file_path, self.object_path = reason, file_path, object_path

    def _raise(self) -> Any:
        raise UnsupportedError(
            f"not supported yet: {self.reason}\n  in {place_text(self.file_path, self.object_path)}",
            file=self.file_path,
            object=self.object_path,
        )

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"UnknownInterpretation({self.object_path})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return "unknown"

    def awkward_form(self, file: Any = None, context: Any = None, **options: Any) -> Any:
        """There is none."""
        raise CannotBeAwkward(self.reason)

    def __repr__(self) -> str:
        return f"<UnknownInterpretation {self.reason!r}>"


__all__ = [
    "AsContainer",
    "AsDouble32",
    "AsDtype",
    "AsDtypeInPlace",
    "AsFloat16",
    "AsGrouped",
    "AsJagged",
    "AsObjects",
    "AsSTLBits",
    "AsStridedObjects",
    "AsStrings",
    "Interpretation",
    "Numerical",
    "TruncatedNumerical",
    "UnknownInterpretation",
]
