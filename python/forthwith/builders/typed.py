"""Builder of arrays of a known type."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._errors import BuilderError
from forthwith._packages import package
from forthwith.builders.commands import Commands, Nested
from forthwith.builders.discover import a_mapping, to_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, Self

    # The class has methods with these names.
    Buffers = tuple[str, int, dict[str, Any]]
    Capsules = tuple[object, object]


class Within(Nested):
    """A context manager that begins and ends a list, tuple or record."""

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._end()
        except BuilderError:
            # The error in the block is the cause, and is being raised already.
            if type is None:
                raise


class TypedArrayBuilder(Commands, _forthwith.TypedArrayBuilder):
    """An array of a known type that grows by commands, which are those of ``ak.ArrayBuilder``.

    >>> builder = TypedArrayBuilder("var * {x: float64, y: ?string}")
    >>> with builder.list():
    ...     with builder.record():
    ...         builder.field("x").real(1.5)
    ...     builder.append({"y": "text", "x": 2})
    >>> builder.typestr
    '1 * var * {x: float64, y: ?string}'
    >>> builder.to_list()  # doctest: +SKIP
    [[{'x': 1.5, 'y': None}, {'x': 2.0, 'y': 'text'}]]

    Args:
        form_or_type: The type of an entry, as text (``"var * float64"``), as an ``ak.types`` object (for an
            ``ArrayType``, its content), or as a Form: an ``ak.forms`` object, a dict or JSON text. For an
            ``ak.Array``, its Form.
        behavior: Custom ``ak.behavior`` of the resulting arrays.
        attrs: Attributes of the resulting arrays.

    An invalid command raises a `BuilderError` with its place and the expected commands, and changes nothing.
    Fields of a record may be in any order; nullable ones may be omitted. If several alternatives of a union
    are possible, ``tag`` selects one. ``source`` is the AwkwardForth program that was generated for the type.
    """

    _nested = Within

    def __new__(
        cls,
        form_or_type: Any,
        *,
        behavior: Mapping[Any, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Generates the program."""
        return super().__new__(cls, described(form_or_type))

    def __init__(
        self,
        form_or_type: Any,
        *,
        behavior: Mapping[Any, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        self.behavior = a_mapping("behavior", behavior)
        self.attrs = a_mapping("attrs", attrs)

    @property
    def form(self) -> Any:
        """The Form, an ``ak.forms.Form``, with the keys of the buffers."""
        return package("awkward").forms.from_json(self._form)

    @property
    def type(self) -> Any:
        """The type of the complete entries, an ``ak.types.ArrayType``."""
        return package("awkward").types.ArrayType(self.form.type, len(self), self.behavior)

    def snapshot(self) -> Any:
        """Returns a copy of the complete entries as an ``ak.Array``. The builder is not changed."""
        layout: Any = self._snapshot()
        return to_array(layout, behavior=self.behavior, attrs=self.attrs)

    def to_buffers(self) -> Buffers:
        """Returns the arguments of ``ak.from_buffers`` for the complete entries: Form, length, buffers."""
        np = package("numpy")
        layout = self._snapshot()
        return layout.form, len(layout), {key: np.asarray(buffer) for key, buffer in layout.buffers()}

    def __arrow_c_array__(self, requested_schema: object = None) -> Capsules:
        """Returns the complete entries as Arrow data."""
        return self._snapshot().__arrow_c_array__(requested_schema)


def described(form_or_type: Any) -> str:
    """Returns a type or Form as text."""
    if isinstance(form_or_type, str):
        return form_or_type
    if isinstance(form_or_type, dict):
        from json import dumps

        return dumps(form_or_type)
    module = type(form_or_type).__module__
    if module.startswith("awkward."):
        if module.startswith("awkward.forms."):
            return str(form_or_type.to_json())
        if module.startswith("awkward.types."):
            # The type of an array includes its length, and that of a record that it is scalar.
            return str(getattr(form_or_type, "content", form_or_type) if _outermost(form_or_type) else form_or_type)
        layout = getattr(form_or_type, "layout", form_or_type)
        if hasattr(layout, "form"):
            return str(layout.form.to_json())
    raise TypeError(f"expected a type or Form, not {type(form_or_type).__name__}")


def _outermost(of: Any) -> bool:
    return type(of).__name__ in {"ArrayType", "ScalarType"}
