"""Awkward Arrays whose `to_list` returns the values of `rows`, such as decimals and UUIDs.

Other methods are those of Awkward Array's own classes, which its functions also return.
"""

from __future__ import annotations

import awkward as ak

from forthwith._interop.python_values import PythonValues, is_different, without_meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def with_python_values(array: Any) -> Any:
    """Sets the class whose `to_list` returns the values of `rows`, if they differ from Awkward Array's.

    Args:
        array: An array or a record. Other values, and those with custom behavior, are returned unchanged.
    """
    if type(array) is ak.Array:
        kind, layout = LogicalArray, array.layout
    elif type(array) is ak.Record:
        kind, layout = LogicalRecord, array.layout.array
    else:
        return array
    if is_different(layout):
        array.__class__ = kind
    return array


class _Logical:
    """The methods shared by arrays and records."""

    def to_list(self: Any) -> Any:
        """Converts to Python objects as in `rows`, such as ``decimal.Decimal`` and aware ``datetime``."""
        return PythonValues(self.behavior).of(self.layout)

    def tolist(self) -> Any:
        """Converts to Python objects, as `to_list`."""
        return self.to_list()

    def __getitem__(self: Any, where: Any) -> Any:
        return with_python_values(super().__getitem__(where))  # type: ignore[misc]

    def __setitem__(self, where: Any, what: Any) -> None:
        # Results of arithmetic keep the parameters of their operands, although their scales differ.
        if isinstance(what, ak.Array) and not isinstance(what, _Logical):
            what = ak.transform(lambda layout, **_: without_meaning(layout), what)
        super().__setitem__(where, what)  # type: ignore[misc]

    def _update_class(self: Any, *arguments: Any, **options: Any) -> None:
        # Awkward Array resets the class when layout or behavior change.
        super()._update_class(*arguments, **options)  # type: ignore[misc]
        with_python_values(self)

    def __copy__(self: Any) -> Any:
        return with_python_values(super().__copy__())  # type: ignore[misc]

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        return with_python_values(super().__deepcopy__(memo))  # type: ignore[misc]

    def __reduce_ex__(self: Any, protocol: Any) -> tuple[Any, ...]:
        try:
            reduced: Any = super().__reduce_ex__(protocol)
        except ValueError:
            # Buffers of datetime64 cannot be pickled out of band.
            reduced = super().__reduce_ex__(min(protocol, 4))
        make, arguments, *state = reduced
        return unpickle, (make, arguments), *state


class LogicalArray(_Logical, ak.Array):  # type: ignore[misc]
    """An array with values that Awkward Array's own `to_list` converts otherwise, such as decimals."""

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            yield with_python_values(item)


class LogicalRecord(_Logical, ak.Record):  # type: ignore[misc]
    """A single record of a `LogicalArray`."""


# repr() shows the name, and packages recognise Awkward Arrays by the module.
LogicalArray.__name__, LogicalArray.__module__ = ak.Array.__name__, ak.Array.__module__
LogicalRecord.__name__, LogicalRecord.__module__ = ak.Record.__name__, ak.Record.__module__


def unpickle(make: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Restores a pickled array or record."""
    return with_python_values(make(*arguments))
