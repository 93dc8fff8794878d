"""Error handling for objects of damaged files, whose members may have any value.

Methods of objects read members as their class declares them. If these are missing, of another type or
inconsistent, errors of Python and NumPy become a `DamagedFileError` that names the object, and ``repr`` never
raises an error. Arguments of a wrong type are errors of the caller.
"""

from __future__ import annotations

import functools
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from forthwith._entries import whole
from forthwith._errors import DamagedFileError, ForthwithError, OutOfMemoryError, RequestTypeError, place_text
from forthwith._forthwith import safe_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from forthwith._objects import Object

    Class = TypeVar("Class", bound=type)

_SHOWN = ("__repr__", "_repr_html_")
_GUARDED = ("__len__", "__iter__", "__contains__", "__eq__", "__hash__", "__str__", "__bool__", "__int__", "__float__")
_UNFIT = (AttributeError, TypeError, ValueError, ArithmeticError, LookupError, BufferError, RecursionError)

# Types accepted for annotations: NumPy integers have ``__index__``, and NumPy floats are floats.
_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool, int),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "None": (type(None),),
    "type": (type,),
    "TextIO": (),
}


def guarded(cls: Class) -> Class:
    """Class decorator that guards public methods and properties."""
    for name, found in list(vars(cls).items()):
        if name in _SHOWN:
            setattr(cls, name, _shown(found))
        elif name.startswith("_") and name not in _GUARDED:
            continue
        elif isinstance(found, property) and found.fget is not None:
            setattr(cls, name, property(_guarded(found.fget), doc=found.__doc__))
        elif callable(found) and not isinstance(found, type):
            setattr(cls, name, _guarded(found))
    return cls


def damaged(what: Object, why: str) -> DamagedFileError:
    """Returns the error for an object with inconsistent members."""
    where = place_text(what.file.file_path, what.object_path)
    return DamagedFileError(f"{what.classname}: {why}\n  in {where}", file=what.file.file_path, object=what.object_path)


def _guarded(act: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(act)
    def guarded(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return act(self, *arguments, **named)
        except ForthwithError:
            raise
        except MemoryError as error:
            raise OutOfMemoryError(f"{self.classname}: {error}", file=self.file.file_path) from error
        except _UNFIT as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                # Raised by the call itself, for invalid arguments.
                raise
            mistake = _mistake(act, self, arguments, named)
            if mistake is not None:
                raise mistake from None
            why = f"{type(error).__name__}: {error}"
            raise damaged(self, f"{act.__name__} cannot be had, its members do not fit together ({why})") from error

    return guarded


def _mistake(
    act: Callable[..., Any], owner: Object, arguments: tuple[Any, ...], named: dict[str, Any]
) -> RequestTypeError | None:
    """Returns the error for an argument that does not match its annotation; ``None`` otherwise."""
    import inspect

    signature = inspect.signature(act)
    for name, value in signature.bind(owner, *arguments, **named).arguments.items():
        parameter = signature.parameters[name]
        wanted = str(parameter.annotation)
        given = value if parameter.kind is parameter.VAR_POSITIONAL else [value]
        for one in given if value is not owner else []:
            if not _fits(one, wanted):
                return RequestTypeError(f"{act.__name__}: {name} must be {wanted.replace(' | ', ' or ')}, not {one!r}")
    return None


def _fits(value: object, wanted: str) -> bool:
    """Whether a value matches an annotation; annotations other than built-in types always match."""
    kinds = wanted.split(" | ")
    if not all(kind in _TYPES for kind in kinds):
        return True
    if "TextIO" in kinds and hasattr(value, "write"):
        return True
    number = whole(value)
    value = value if number is None else number
    return isinstance(value, tuple(one for kind in kinds for one in _TYPES[kind]))


def _shown(act: Callable[..., str]) -> Callable[..., str]:
    @functools.wraps(act)
    def shown(self: Any) -> str:
        try:
            return safe_text(act(self))
        except Exception as error:
            why = next(iter(str(error).splitlines()), repr(error))
            text = safe_text(f"<{self.classname}, which cannot be shown: {why}>")
            return text if act.__name__ == "__repr__" else f"<p>{escape(text)}</p>"

    return shown
