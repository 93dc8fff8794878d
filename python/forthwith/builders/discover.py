"""Arrays whose type is found out on the way, command by command."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._errors import UnsupportedError
from forthwith._packages import package
from forthwith.builders.commands import Commands, Nested, abbreviated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Python's limit of calls within calls is 1000 by default.
TOO_DEEP = (
    "the data are nested deeper than Awkward Array can make arrays of: it goes through the levels of a type by calls within "
    "calls, of which sys.setrecursionlimit says how many there may be"
)


class ArrayBuilder(Commands, _forthwith.ArrayBuilder):
    """An array that grows by commands, and whose type grows with them, as ``ak.ArrayBuilder`` does.

    >>> builder = ArrayBuilder()
    >>> with builder.list():
    ...     builder.integer(1)
    ...     builder.real(2.2)
    >>> with builder.list(), builder.record("point"):
    ...     builder.field("x").integer(3)
    >>> builder.typestr
    '2 * var * union[float64, point[x: int64]]'

    Args:
        behavior: Custom ``ak.behavior`` of the arrays made.
        attrs: Attributes of the arrays made.
        initial: Taken for the sake of programs written for Awkward Array; memory grows as it is needed.
        resize: Likewise.

    A command that does not fit is a `BuilderError`, which says where and what would have fitted, and changes nothing.
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
        """Custom ``ak.behavior`` of the arrays made; ``None`` for what is global."""
        return self._behavior

    @behavior.setter
    def behavior(self, behavior: Mapping[Any, Any] | None) -> None:
        self._behavior = a_mapping("behavior", behavior)

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes of the arrays made."""
        if self._attrs is None:
            self._attrs = {}
        return self._attrs

    @attrs.setter
    def attrs(self, attrs: Mapping[str, Any] | None) -> None:
        self._attrs = a_mapping("attrs", attrs)

    @property
    def type(self) -> Any:
        """The type of what is complete, an ``ak.types.ArrayType``."""
        ak = package("awkward")
        try:
            return ak.types.ArrayType(ak.forms.from_json(self._form).type, len(self), self._behavior)
        except RecursionError:
            raise UnsupportedError(TOO_DEEP) from None

    def snapshot(self) -> Any:
        """An ``ak.Array`` of what is complete, copied. The builder goes on as if nothing had been."""
        return to_array(self._snapshot(), simplify=True, behavior=self._behavior, attrs=self._attrs)

    def __arrow_array__(self, type: Any = None) -> Any:
        """The complete entries, for pyarrow."""
        return self.snapshot().__arrow_array__(type=type)

    def __bool__(self) -> bool:
        if len(self) != 1:
            raise ValueError("an array whose length is not 1 is neither true nor false; use ak.any() or ak.all()")
        return bool(self.snapshot()[0])

    def __repr__(self) -> str:
        return abbreviated("<ArrayBuilder type=", self.typestr)


def to_array(found: _forthwith.Layout, simplify: bool = False, **options: Any) -> Any:
    """An array of columns. A type that was asked for is not simplified: that makes real numbers of integers beside them."""
    ak = package("awkward")
    np = package("numpy")
    buffers = {key: np.asarray(buffer) for key, buffer in found.buffers()}
    try:
        return ak.from_buffers(found.form, len(found), buffers, allow_noncanonical_form=simplify, **options)
    except RecursionError:
        raise UnsupportedError(TOO_DEEP) from None


def a_mapping(name: str, value: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    """Refuses what is no mapping."""
    if value is not None and not hasattr(value, "keys"):
        raise TypeError(f"{name} must be None or a mapping")
    return value
