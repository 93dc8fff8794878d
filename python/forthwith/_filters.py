"""Filters of names: exact names, globs, regular expressions, functions, or lists of these."""

from __future__ import annotations

from forthwith._errors import KeyInFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from forthwith._tree.branch import Branch
    from forthwith._tree.tree import Tree

    Filter: TypeAlias = str | Callable[[str], bool] | Iterable["Filter"] | None
    Predicate: TypeAlias = Callable[[str], bool]

_FLAGS = frozenset("aiLmsux")


def predicate(filter: Filter, name: str) -> Predicate | None:
    """Returns the function of a filter; ``None`` if everything passes.

    Args:
        filter: ``None``; an exact name; a glob with ``*``, ``?`` or ``[``; ``"/regex/flags"``, matched at the
            start of the name; a function of the name; or an iterable of these, at least one of which must
            match.
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


def _texts(filter: object) -> list[str]:
    """Returns all texts in a filter and its nested lists."""
    if isinstance(filter, str):
        return [filter]
    if callable(filter) or not isinstance(filter, list | tuple | set | frozenset):
        return []
    return [text for part in filter for text in _texts(part)]


def _is_regular(filter: str) -> bool:
    last = filter.rfind("/")
    return filter.startswith("/") and last > 0 and _FLAGS.issuperset(filter[last + 1 :])


def _is_pattern(filter: str) -> bool:
    return _is_regular(filter) or any(c in filter for c in "*?[")


def _text(filter: str, name: str) -> Predicate:
    last = filter.rfind("/")
    regular = _is_regular(filter)
    if not _is_pattern(filter):
        return filter.__eq__

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
    # Names may contain brackets, so that equal text also matches.
    return lambda text: text == filter or pattern.match(text) is not None


class BranchFilter:
    """Filter of branches by several criteria, all of which must match."""

    def __init__(
        self,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        exclude: Filter = None,
    ) -> None:
        self.given = {
            "filter_name": filter_name,
            "filter_typename": filter_typename,
            "filter_branch": filter_branch,
            "exclude": exclude,
        }
        self._by_name = predicate(filter_name, "filter_name")
        self._by_type = predicate(filter_typename, "filter_typename")
        self._without = predicate(exclude, "exclude")
        if filter_branch is not None and not callable(filter_branch):
            raise TypeError(f"filter_branch must be None or a function of a branch, not {filter_branch!r}")
        self._by_branch = filter_branch
        self._is_any = any(given is not None for given in self.given.values())

    def __bool__(self) -> bool:
        """Whether there is any criterion."""
        return self._is_any

    def plain(self) -> list[tuple[str, str]]:
        """Returns the exact names in filters, each with its argument."""
        return [
            (argument, text)
            for argument in ("filter_name", "exclude")
            for text in _texts(self.given[argument])
            if not _is_pattern(text)
        ]

    def has_paths(self) -> bool:
        """Whether a name or glob in ``filter_name`` is a path."""
        texts = _texts(self.given["filter_name"])
        return any("/" in text.lstrip("/") and not _is_regular(text) for text in texts)

    def passes(self, name: str, path: str, branch: Callable[[], Branch]) -> bool:
        """Whether a branch passes; ``branch`` is called only if needed."""
        if self._by_name and not _named(self._by_name, self.given["filter_name"], name, path):
            return False
        if self._without and _named(self._without, self.given["exclude"], name, path):
            return False
        if self._by_type and not _typed(self._by_type, branch().typename):
            return False
        return self._by_branch is None or bool(self._by_branch(branch()))


_ALL = BranchFilter()


def passing(
    filter_name: Filter, filter_typename: Filter, filter_branch: Callable[[Branch], object] | None, exclude: Filter
) -> BranchFilter:
    """Returns the filter of a call; without criteria a shared one."""
    if filter_name is None and filter_typename is None and filter_branch is None and exclude is None:
        return _ALL
    return BranchFilter(
        filter_name=filter_name, filter_typename=filter_typename, filter_branch=filter_branch, exclude=exclude
    )


def _named(passes: Predicate, given: object, name: str, path: str) -> bool:
    """Matches a name or path. Paths may also be absolute, ``/a``, except for functions."""
    return passes(name) or (path != name and passes(path)) or (not callable(given) and passes("/" + path))


def _typed(passes: Predicate, typename: str) -> bool:
    """Matches a type name, also without the names of counters: ``float[NJet]`` as ``float[]``."""
    if passes(typename):
        return True
    if "[" not in typename:
        return False

    import re

    return passes(re.sub(r"\[[A-Za-z_][^\]]*\]", "[]", typename))


def nothing(given: dict[str, object], near: Iterable[str], tree: Tree) -> ValueError:
    """Returns the error for filters that match nothing.

    Args:
        given: The filters.
        near: Similar names.
        tree: The filtered tree.
    """
    said = ", ".join(f"{name}={value!r}" for name, value in given.items() if value is not None)
    hint = _other_case(given.get("filter_name"), tree)
    maybe = ", ".join(near)
    if not hint and maybe:
        hint = f"; did you mean {maybe}?"
    return ValueError(f"no branch passes {said}{hint}\n  in {tree._place()}")


def _other_case(filter: object, tree: Tree) -> str:
    """Returns a hint if a glob would match in another case."""
    for text in _texts(filter):
        if not _is_pattern(text) or _is_regular(text):
            continue
        passes, exact = _text(text.lower(), "filter_name"), _text(text, "filter_name")
        if any(exact(path) for path in tree.iterkeys()):
            continue  # another filter keeps these names out
        fitting = [path for path in tree.iterkeys() if passes(path.lower())]
        if fitting:
            import re
            from fnmatch import translate

            spelled = re.sub(r"^\(\?s:(.*)\)\\[zZ]$", r"\1$", translate(text))
            return f", but capital letters count: {fitting[0]} passes filter_name='/{spelled}/i'"
    return ""


def absent(name: object, known: Iterable[str], tree: Tree) -> KeyInFileError:
    """Returns the error for a name that is not among the selected branches."""
    from difflib import get_close_matches

    near = get_close_matches(str(name), list(known), 3)
    error = KeyInFileError(
        f"no branch {name!r} is selected" + (f"; did you mean {', '.join(near)}?" if near else ""),
        file=tree.file.file_path,
        object=tree.path,
    )
    error.key, error.near = str(name), near
    return error
