"""Which names are meant: exact names, globs, regular expressions, functions, or several of these."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Filter: TypeAlias = str | Callable[[str], bool] | Iterable["Filter"] | None
    Predicate: TypeAlias = Callable[[str], bool]

_FLAGS = frozenset("aiLmsux")


def predicate(filter: Filter, name: str) -> Predicate | None:
    """The function a filter stands for; ``None`` if everything passes.

    Args:
        filter: ``None``; an exact name; a glob with ``*``, ``?`` or ``[``; ``"/regex/flags"``, matched from the start
            of the name; a function of the name; or an iterable of these, of which one must pass.
        name: Name of the argument, for errors.
    """
    if filter is None:
        return None
    if isinstance(filter, str):
        return _text(filter, name)
    if callable(filter):
        return filter
    if not hasattr(filter, "__iter__"):
        raise TypeError(
            f"{name} must be None, a name, a glob, a '/regex/', a function or an iterable of these, not {filter!r}"
        )
    parts = [predicate(part, name) for part in filter]
    if any(part is None for part in parts):
        raise TypeError(f"{name} contains None")
    return lambda text: any(part is not None and part(text) for part in parts)


def _text(filter: str, name: str) -> Predicate:
    last = filter.rfind("/")
    regular = filter.startswith("/") and last > 0 and _FLAGS.issuperset(filter[last + 1 :])
    if not regular and not any(c in filter for c in "*?["):
        return lambda text: text == filter

    import re  # not at the top: it costs more than the rest of the package

    if regular:
        flags = sum({re.RegexFlag[flag.upper()] for flag in filter[last + 1 :]})
        try:
            pattern = re.compile(filter[1:last], flags)
        except (re.error, ValueError) as error:
            raise ValueError(f"{name}={filter!r} is not a regular expression: {error}") from None
    else:
        from fnmatch import translate

        pattern = re.compile(translate(filter))
    return lambda text: pattern.match(text) is not None


def nothing(**filters: object) -> ValueError:
    """The error for filters that nothing passes."""
    said = ", ".join(f"{name}={value!r}" for name, value in filters.items() if value is not None)
    return ValueError(f"nothing passes {said}")
