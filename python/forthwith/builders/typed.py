"""Arrays of a known type, command by command."""

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

    # Within the class, these are methods.
    Buffers = tuple[str, int, dict[str, Any]]
    Capsules = tuple[object, object]


class Within(Nested):
    """A list, tuple or record that a ``with`` block begins and ends."""

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._end()
        except BuilderError:
            # The error in the block is the reason, and is told already.
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
        form_or_type: The type of an entry, as text (``"var * float64"``), as an ``ak.types`` object (of an ``ArrayType`` the
            content counts), or as a Form: an ``ak.forms`` object, a dict or JSON text. Of an ``ak.Array``, its Form.
        behavior: Custom ``ak.behavior`` of the arrays made.
        attrs: Attributes of the arrays made.

    A command that does not fit is a `BuilderError`, which says what was expected and where, and changes nothing. Fields of a
    record may come in any order; those that can be null may be left out. Where several alternatives of a union could be
    meant, ``tag`` says which. ``source`` is the AwkwardForth program that was made of the type.
    """

    _nested = Within

    def __new__(
        cls,
        form_or_type: Any,
        *,
        behavior: Mapping[Any, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Makes the program."""
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
        """The type of what is complete, an ``ak.types.ArrayType``."""
        return package("awkward").types.ArrayType(self.form.type, len(self), self.behavior)

    def snapshot(self) -> Any:
        """An ``ak.Array`` of what is complete, copied. The builder goes on as if nothing had been."""
        layout: Any = self._snapshot()
        return to_array(layout, behavior=self.behavior, attrs=self.attrs)

    def to_buffers(self) -> Buffers:
        """The complete entries, as the arguments of ``ak.from_buffers``: Form in JSON, length, NumPy arrays."""
        np = package("numpy")
        layout = self._snapshot()
        return layout.form, len(layout), {key: np.asarray(buffer) for key, buffer in layout.buffers()}

    def __arrow_c_array__(self, requested_schema: object = None) -> Capsules:
        """The complete entries, as Arrow data."""
        return self._snapshot().__arrow_c_array__(requested_schema)


def described(form_or_type: Any) -> str:
    """A type or Form as text."""
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
            # The type of an array says its length, too, and that of a record that it is one.
            return str(getattr(form_or_type, "content", form_or_type) if _outermost(form_or_type) else form_or_type)
        layout = getattr(form_or_type, "layout", form_or_type)
        if hasattr(layout, "form"):
            return str(layout.form.to_json())
    raise TypeError(f"expected a type or Form, not {type(form_or_type).__name__}")


def _outermost(of: Any) -> bool:
    return type(of).__name__ in {"ArrayType", "ScalarType"}
