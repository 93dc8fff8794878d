"""The columns of a call, which are chosen in one tree and read of all trees of its schema."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from forthwith._tree.query import COMPUTED
from forthwith.uproot import _custom, _options, _reading
from forthwith.uproot._branches import HasBranches, leaves
from forthwith.uproot._computed import Computed, branches_of
from forthwith.uproot._interpretation import AsDtype, AsJagged, AsStrings, Numerical
from forthwith.uproot._library import Library, NumPy, Pandas
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._options import no_filter

# Arguments that choose equal columns of all trees with equal branches.
_KNOWN = frozenset(("filter_name", "aliases", "how", "decompression_executor", "interpretation_executor", "language"))
# Names of the number of an entry, which counts those of one tree.
_ENTRY = "Entry$"


class Columns(ABC):
    """Columns of one tree.

    Attributes:
        fields: Labels, and the positions of stored fields; ``None`` for computed columns.
        aliases: Names for expressions.
        cut: An expression; entries for which it is false are left out.
    """

    fields: list[tuple[str, int | None]]
    aliases: list[tuple[str, str]]
    cut: str | None = None

    @abstractmethod
    def payload(self) -> list[int]:
        """The fields whose decompressed bytes are those of the columns."""

    @abstractmethod
    def made(self, start: int, stop: int, arrays: Any, kept: Any) -> Any:
        """The result of the arrays of some entries, of which some may have been left out."""

    def stored_bytes(self, tree: Any) -> float:
        """Bytes of an entry of a tree that are counted as requested, on average."""
        return 0


class StoredBranches(Columns):
    """Branches of a tree."""

    def __init__(self, tree: Any, wanted: list[Any], order: list[str], library: Library, how: Any) -> None:
        self._wanted, self._order, self._library, self._how = wanted, order, library, how
        self._indexes = _reading.indexes(wanted)
        self.fields = [(tree.forthwith._fields[at].path, at) for at in self._indexes]
        self.aliases = []

    def payload(self) -> list[int]:
        """The branches, each as often as it is asked for."""
        return [leaf._index for one in self._wanted for leaf in leaves(one.branch)]

    def made(self, start: int, stop: int, arrays: Any, kept: Any) -> Any:
        """The result of the arrays of some entries."""
        by_index = dict(zip(self._indexes, arrays, strict=True))
        columns = _reading.named(self._wanted, by_index, (start, stop), self._library)
        return self._library.group(columns, self._order, self._how, stop - start, start)

    def stored_bytes(self, tree: Any) -> float:
        """Bytes of an entry of a tree, on average."""
        return _reading.stored_bytes(tree, self._indexes)


class ComputedColumns(Columns):
    """Names and expressions of a tree or an ntuple."""

    def __init__(self, tree: Any, names: list[str], cut: Any, aliases: Any, library: Library, how: Any) -> None:
        self._tree, self._request = tree, (names, cut, aliases)
        self._library, self._how = library, how
        self.computed = Computed(tree, names, cut, aliases, library)
        self.fields = [(text, None if at == COMPUTED else at) for text, at in self.computed.columns]
        self.aliases = list(self.computed.choice.aliases.items())
        self.cut = self.computed.choice.cut

    @property
    def texts(self) -> list[str]:
        """All expressions."""
        return [*(text for _, text in self.aliases), self.cut or "", *(text for text, _ in self.fields)]

    def payload(self) -> list[int]:
        """The branches that expressions are made of; of an ntuple all fields."""
        if isinstance(self._tree, HasFields):
            return list(self._tree._ntuple._tops(self._tree._itself()))
        return [leaf._index for branch in branches_of(self._tree, *self._request) for leaf in leaves(branch)]

    def made(self, start: int, stop: int, arrays: Any, kept: Any) -> Any:
        """The result of the arrays of some entries."""
        columns, length = self.computed.made(start, stop, arrays, kept)
        return self._library.group(columns, self._request[0], self._how, length, start)


class StoredFields(Columns):
    """Fields of an ntuple."""

    def __init__(self, ntuple: Any, chosen: list[Any], library: Library, how: Any) -> None:
        self._ntuple, self._chosen, self._library, self._how = ntuple, chosen, library, how
        self.fields = [(name, at) for at, name in ntuple._tops(chosen).items()]
        self.aliases = []

    def payload(self) -> list[int]:
        """The top-level fields."""
        return [at for _, at in self.fields if at is not None]

    def made(self, start: int, stop: int, arrays: Any, kept: Any) -> Any:
        """The result of the arrays of some entries."""
        array = self._ntuple._made_of(self._chosen, arrays, stop - start)
        return self._ntuple._grouped(array, start, stop, self._library, self._how, False)


def columns_of(
    tree: Any, expressions: Any, cut: Any, library: Library, options: dict[str, Any], joins: bool
) -> Columns | None:
    """The columns of a tree; ``None`` if trees of its schema may have others.

    Args:
        tree: The tree or ntuple.
        expressions: As in ``TTree.arrays``.
        cut: As in ``TTree.arrays``.
        library: What arrays become.
        options: As in ``TTree.arrays``.
        joins: Whether arrays of several files are joined before they become columns, which must not depend on the entries of
            one file then.

    Raises:
        ForthwithError: The tree lacks columns.
    """
    is_whole = tree._tree is tree if isinstance(tree, HasBranches) else tree._ntuple is tree
    known = _KNOWN if isinstance(tree, HasFields) else _KNOWN | {"filter_field"}
    # Interpretations of one's own may be those of some files.
    if not is_whole or options.keys() - known or _custom._registered:
        return None
    how = options.get("how")
    # Which lists are zipped depends on their lengths in each file.
    if joins and how not in (None, tuple, list, dict):
        return None
    _options.check_language(options.get("language"))
    of = _of_fields if isinstance(tree, HasFields) else _of_branches
    found = of(tree, expressions, cut, library, options, joins)
    return found if found is not None and found.fields else None


def _of_branches(
    tree: Any, expressions: Any, cut: Any, library: Library, options: dict[str, Any], joins: bool
) -> Columns | None:
    aliases, how = options.get("aliases"), options.get("how")
    filter_name = options.get("filter_name", no_filter)
    wanted, order = tree._wanted(expressions, cut, filter_name, no_filter, no_filter, aliases)
    if wanted is None:
        return _computed(tree, order, cut, aliases, library, how, joins)
    if not all(one.interpretation is None and _is_plain(one.branch, library, joins) for one in wanted):
        return None
    return StoredBranches(tree, wanted, order, library, how)


def _of_fields(
    ntuple: Any, expressions: Any, cut: Any, library: Library, options: dict[str, Any], joins: bool
) -> Columns | None:
    aliases, how = options.get("aliases"), options.get("how")
    filters = options.get("filter_name", no_filter), no_filter, no_filter
    chosen = ntuple._stored(expressions, cut, aliases, filters)
    if chosen is None:
        names = ntuple._computed_names(expressions)
        return _computed(ntuple, names, cut, aliases, library, how, joins)
    if joins and isinstance(library, NumPy) and not all(_is_number(one) for one in chosen):
        return None
    return StoredFields(ntuple, chosen, library, how)


def _computed(
    tree: Any, names: list[str], cut: Any, aliases: Any, library: Library, how: Any, joins: bool
) -> Columns | None:
    columns = ComputedColumns(tree, names, cut, aliases, library, how)
    if any(_ENTRY in text for text in columns.texts):
        return None
    if isinstance(library, NumPy):
        branches = columns.computed.branches
        is_plain = isinstance(tree, HasBranches) and all(_is_plain(branch, library, False) for branch in branches)
        return columns if not joins and (is_plain or not branches) else None
    # The class of the index depends on the entries that pass in each file, and in each step of an ntuple.
    depends = joins or isinstance(tree, HasFields)
    if depends and isinstance(library, Pandas) and columns.cut is not None:
        return None
    return columns


def _is_plain(branch: Any, library: Library, joins: bool) -> bool:
    """Whether a column depends on nothing of a file but its type."""
    if not _reading.is_plain(branch):
        return False
    if not isinstance(library, NumPy):
        return True
    # Objects of classes are as the file describes them.
    return isinstance(branch.interpretation, AsDtype if joins else (Numerical, AsJagged, AsStrings))


def _is_number(field: Any) -> bool:
    """Whether a field of an ntuple is a number in each entry."""
    form = field._ntuple._form(field._top)
    return bool(field.top_level and form is not None and form["class"] == "NumpyArray")
