"""Builder of arrays whose type is discovered."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._errors import UnsupportedError
from forthwith._packages import package
from forthwith.builders.commands import Commands, Nested, abbreviated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Python's default recursion limit is 1000.
TOO_DEEP = (
    "the data are nested deeper than Awkward Array can make arrays of: it goes through the levels of a type by calls within "
    "calls, of which sys.setrecursionlimit says how many there may be"
)


class ArrayBuilder(Commands, _forthwith.ArrayBuilder):
    """An array that grows by commands, with its type, as ``ak.ArrayBuilder`` does.

    >>> builder = ArrayBuilder()
    >>> with builder.list():
    ...     builder.integer(1)
    ...     builder.real(2.2)
    >>> with builder.list(), builder.record("point"):
    ...     builder.field("x").integer(3)
    >>> builder.typestr
    '2 * var * union[float64, point[x: int64]]'

    Args:
        behavior: Custom ``ak.behavior`` of the resulting arrays.
        attrs: Attributes of the resulting arrays.
        initial: Ignored, for compatibility with Awkward Array; memory grows on demand.
        resize: Ignored, for compatibility with Awkward Array.

    An invalid command raises a `BuilderError` with its place and the expected commands, and changes nothing.
    """

    _nested = Nested

    def __init__(
        self,
        *,
        behavior: Mapping[Any, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        initial: int = 1024,
        resize: float = 8,
    ) -> None:
        self._behavior = a_mapping("behavior", behavior)
        self._attrs: Mapping[str, Any] | None = a_mapping("attrs", attrs)

    @property
    def behavior(self) -> Mapping[Any, Any] | None:
        """Custom ``ak.behavior`` of the resulting arrays; ``None`` for the global one."""
        return self._behavior

    @behavior.setter
    def behavior(self, behavior: Mapping[Any, Any] | None) -> None:
        self._behavior = a_mapping("behavior", behavior)

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes of the resulting arrays."""
        if self._attrs is None:
            self._attrs = {}
        return self._attrs

    @attrs.setter
    def attrs(self, attrs: Mapping[str, Any] | None) -> None:
        self._attrs = a_mapping("attrs", attrs)

    @property
    def type(self) -> Any:
        """The type of the complete entries, an ``ak.types.ArrayType``."""
        ak = package("awkward")
        try:
            return ak.types.ArrayType(ak.forms.from_json(self._form).type, len(self), self._behavior)
        except RecursionError:
            raise UnsupportedError(TOO_DEEP) from None

    def snapshot(self) -> Any:
        """Returns a copy of the complete entries as an ``ak.Array``. The builder is not changed."""
        return to_array(self._snapshot(), simplify=True, behavior=self._behavior, attrs=self._attrs)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Returns the complete entries for pyarrow."""
        return self.snapshot().__arrow_array__(type=type)

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise ValueError("an array whose length is not 1 is neither true nor false; use ak.any() or ak.all()")
        return bool(self.snapshot()[0])

    def __repr__(self) -> str:
        return abbreviated("<ArrayBuilder type=", self.typestr)


def to_array(found: _forthwith.Layout, simplify: bool = False, **options: Any) -> Any:
    """Returns an array of columns. ``simplify`` merges alternatives, which would alter a requested type."""
    ak = package("awkward")
    np = package("numpy")
    buffers = {key: np.asarray(buffer) for key, buffer in found.buffers()}
    try:
        return ak.from_buffers(found.form, len(found), buffers, allow_noncanonical_form=simplify, **options)
    except RecursionError:
        raise UnsupportedError(TOO_DEEP) from None


def a_mapping(name: str, value: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Raises an error for values other than mappings and ``None``."""
    if value is not None and not hasattr(value, "keys"):
        raise TypeError(f"{name} must be None or a mapping")
    return value
