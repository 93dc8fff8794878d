"""Queries: computed columns and selected entries."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Set
from copy import copy
from operator import index

from forthwith import _forthwith
from forthwith._errors import KeyInFileError, RequestError
from forthwith._tree.entry_lists import EntryLists, entry_lists
from forthwith._tree.formulas import mistaken
from forthwith._tree.friends import friends_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from forthwith._tree.friends import Friends
    from forthwith._tree.mapping import BranchMapping
    from forthwith._tree.tree import Tree

    United: TypeAlias = tuple[str, int | None, _forthwith.ColumnForm, bool]

# Position of a computed column, which has no branch.
COMPUTED = -1


class Choice:
    """Filter, aliases, entries and friends of a read. It is true if any of them is set.

    Args:
        cut: Expression with one value for each entry, which filters entries.
        aliases: Names of expressions.
        entries: Numbers of entries in ascending order, a boolean for each entry, or a ``TEntryList``.
        friends: Trees or chains to read along with the tree, by name.
    """

    def __init__(
        self,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        entries: Any = None,
        friends: Mapping[str, Any] | Friends | None = None,
    ) -> None:
        if cut is not None and not isinstance(cut, str):
            raise TypeError(f"cut must be an expression such as 'nMuon > 1', not {cut!r}")
        if aliases is not None and not hasattr(aliases, "items"):
            raise TypeError(f"aliases must be names and expressions in a dict, not {aliases!r}")
        self.cut = cut
        self.aliases = dict(aliases or {})
        for name, text in self.aliases.items():
            if not isinstance(text, str):
                raise TypeError(f"aliases must be names and expressions, not {name!r}: {text!r}")
        if hasattr(entries, "classname"):  # an object of a file
            entries = entry_lists(entries)
        self.entries = entries
        self.friends = friends_of(friends)
        self.before = 0  # entries of trees before the one that is read
        self._is_any = bool(self.aliases) or self.chooses or self.friends is not None

    def __bool__(self) -> bool:
        return self._is_any

    @property
    def chooses(self) -> bool:
        """Whether entries may be excluded."""
        return self.cut is not None or self.entries is not None

    def of_all(self, length: int, files: list[str]) -> Choice:
        """Returns the choice for all trees, whose entries are numbered across their files."""
        entries = self.entries
        if isinstance(entries, EntryLists):
            if entries.of_anything is None:
                entries.check_files(files)
                return self
            entries = entries.of_anything
        numbers, given = numbers_of(entries)
        if given is not None and given != length:
            raise RequestError(f"entries= is a mask of {given} entries, but there are {length}")
        if numbers and max(numbers) >= length:
            raise RequestError(f"there is no entry {max(numbers)}, only {length}")
        return Choice(self.cut, self.aliases, numbers, self.friends)

    def of_part(self, tree: Tree, offset: int) -> Choice:
        """Returns the choice for one of several trees, which is preceded by ``offset`` entries."""
        made = self._of_part(tree, offset)
        if made is self:
            made = copy(self)
        made.before = offset
        return made

    def _of_part(self, tree: Tree, offset: int) -> Choice:
        friends = None if self.friends is None else self.friends.behind(offset)
        if self.entries is None:
            return self if friends is None else Choice(self.cut, self.aliases, None, friends)
        if isinstance(self.entries, EntryLists):
            # As in ROOT, no entries of a tree are selected that the list does not contain.
            found = self.entries.find(tree.file.file_path, tree.path)
            return Choice(self.cut, self.aliases, array("Q") if found is None else found, friends)
        numbers, _ = numbers_of(self.entries)
        return Choice(self.cut, self.aliases, numbers_in(numbers, offset, tree.num_entries), friends)


NOTHING = Choice()


def chosen(
    cut: str | None, aliases: Mapping[str, str] | None, entries: Any, friends: Mapping[str, Any] | None = None
) -> Choice:
    """Returns the choice of the given arguments, or a shared one if all are ``None``."""
    is_any = cut is not None or aliases is not None or entries is not None or friends is not None
    return Choice(cut, aliases, entries, friends) if is_any else NOTHING


class Query(list["tuple[str, int]"]):
    """Labels and positions of columns, some of which are computed or read for selected entries only.

    Attributes:
        core: The selection that reads the columns.
        tree: The tree.
        choice: Filter, aliases, entries and friends.
        united: Columns that other trees have in other types, or that some lack: each with its position if
            this tree has it, the common type, and whether some trees lack it.
    """

    def __init__(
        self, tree: Tree, columns: list[tuple[str, int]], choice: Choice, united: Iterable[United] = ()
    ) -> None:
        super().__init__(columns)
        self.tree = tree
        self.choice = choice
        self.united = list(united)
        entries = None if choice.entries is None else _numbers(tree, choice.entries).tobytes()
        fields = [(label, None if at == COMPUTED else at) for label, at in columns]
        beside = [] if choice.friends is None else choice.friends.tables(tree)
        self.core = tree._core.select(
            fields, list(choice.aliases.items()), choice.cut, entries, beside, self.united, choice.before
        )

    def some(self, labels: list[str]) -> Query:
        """Returns the query of some of the columns, with the same entries."""
        known = dict(self)
        return Query(self.tree, [(label, known[label]) for label in labels], self.choice, self.united)

    def count(self, start: int, stop: int) -> int:  # type: ignore[override]
        """Returns the number of entries that pass, for which only the columns of the filter are read."""
        if not self.choice.chooses:
            return stop - start
        _, kept = Query(self.tree, [], self.choice, self.united).core.read(start, stop)
        return stop - start if kept is None else len(kept)

    def columns(self) -> list[tuple[str, Computed | None]]:
        """Returns the labels, with the types of computed columns."""
        types = self.core.types() if any(at == COMPUTED for _, at in self) else [""] * len(self)
        return [
            (label, Computed(label, text) if at == COMPUTED else None)
            for (label, at), text in zip(self, types, strict=True)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return Query, (self.tree, list(self), self.choice, self.united)


class Computed:
    """A computed column in listings."""

    has_data = True

    def __init__(self, text: str, kind: str) -> None:
        self.title = text
        self.typename = kind
        self.interpretation = "computed"


def query(tree: Tree, columns: list[tuple[str, int]], choice: Choice) -> list[tuple[str, int]]:
    """Returns the columns, as a `Query` if some are computed or entries are selected."""
    if choice or COMPUTED in [at for _, at in columns]:
        return Query(tree, columns, choice)
    return columns


def dotted(owner: BranchMapping, name: str) -> int | None:
    """Returns the position of a branch by a path with dots, as in expressions; ``None`` without one."""
    if "." not in name or not name.replace(".", "").replace("_", "").isalnum():
        return None
    try:
        return owner._find(name.replace(".", "/"))
    except KeyInFileError:
        return None


# Deletes the separators in paths of members, such as a.b/Base::c_d.
_MARKS = str.maketrans("", "", "./_:")


def holding(tree: Tree, name: str) -> tuple[str, int] | None:
    """Returns the branch whose records may have a member of this name, with its part of the name."""
    if name.endswith((".", "/")) or not name.translate(_MARKS).isalnum():
        return None
    while (end := max(name.rfind("."), name.rfind("/"))) > 0:
        name = name[:end]
        for label, path in ((name, name), (name, name.replace(".", "/")), (f"{name}.", f"{name}.")):
            at: int | None = tree._core.found(path)
            if at is not None and tree._fields[at].has_data:
                return label, at
    return None


def holder(tree: Tree, name: str) -> int | None:
    """Returns the position of the branch that `holding` finds."""
    found = holding(tree, name)
    return None if found is None else found[1]


def is_computed(owner: BranchMapping, name: str, choice: Choice, error: KeyInFileError) -> bool:
    """Whether a text that is not the name of a branch may be read otherwise.

    This includes aliases, columns of friends, members of records, and expressions.

    Raises:
        KeyInFileError: The text is an invalid expression; the message has the reason.
    """
    if choice.friends is not None or owner._tree._core.friends():
        return True
    if name in choice.aliases or name in dict(owner._tree._core.aliases()):
        return True
    if owner is owner._tree and holder(owner._tree, name) is not None:
        return True
    try:
        found = _forthwith.expression_names(name)
    except RequestError as problem:
        raise mistaken(name, owner._tree._place(), error, problem) from None
    return found != [name]


def behind(tree: Tree, names: Iterable[str]) -> list[int]:
    """Returns the branches that names and expressions use, by their positions in the tree.

    Raises:
        KeyInFileError: A branch does not exist.
    """
    found: dict[int, None] = {}
    aliases: dict[str, str] | None = None
    waiting, seen = list(names)[::-1], set()
    while waiting:
        name = waiting.pop()
        try:
            found.setdefault(tree._find(name))
            continue
        except KeyInFileError as error:
            inner = dotted(tree, name)
            if inner is None and name not in dict(tree._core.aliases()):
                inner = holder(tree, name)
            if inner is not None:
                found.setdefault(inner)
                continue
            if not is_computed(tree, name, NOTHING, error):
                raise
        aliases = dict(tree._core.aliases()) if aliases is None else aliases
        text = aliases.get(name, name)
        if text not in seen:
            seen.add(text)
            # Other names may be columns of friends, which are read along with the tree.
            parts = _forthwith.expression_names(text)[::-1]
            waiting += [one for one in parts if one in aliases or _has(tree, one) or holder(tree, one) is not None]
    return list(found)


def _has(tree: Tree, name: str) -> bool:
    try:
        tree._find(name)
    except KeyInFileError:
        return False
    return True


def _numbers(tree: Tree, entries: Any) -> array[int]:
    if isinstance(entries, EntryLists):
        entries = entries.of_tree(tree.file.file_path, tree.path)
    numbers, length = numbers_of(entries)
    if length is not None and length != tree.num_entries:
        raise RequestError(
            f"entries= is a mask of {length} entries, but there are {tree.num_entries}",
            file=tree.file.file_path,
            object=tree.path,
        )
    return numbers


def _no_entries(given: Any) -> TypeError:
    kind = type(given).__name__
    return TypeError(f"entries must be a sequence of entry indices or a boolean mask, not {kind}")


def numbers_of(entries: Any) -> tuple[array[int], int | None]:
    """Returns the indices of entries, and the length of the mask if they were given as one."""
    if isinstance(entries, array) and entries.typecode == "Q":
        return entries, None  # made here, of a request for several trees
    if isinstance(entries, Mapping | Set | str | bytes):
        raise _no_entries(entries)
    if hasattr(entries, "__array__") or hasattr(entries, "dtype"):
        import numpy as np

        if np.ma.is_masked(entries):
            raise TypeError("entries must not have missing values")
        given = np.asarray(entries)
        if given.ndim != 1 or given.dtype.kind not in "biu":
            raise TypeError(
                f"entries must be whole numbers or booleans in one dimension, not {given.dtype} {given.shape}"
            )
        mask = given.dtype.kind == "b"
        found = np.flatnonzero(given) if mask else given
        if found.size and int(found.min()) < 0:
            raise RequestError(f"entries are counted from 0, so {int(found.min())} does not exist")
        numbers = array("Q")
        numbers.frombytes(np.ascontiguousarray(found, np.uint64).tobytes())
        return numbers, len(given) if mask else None
    try:
        listed = list(entries)
    except TypeError:
        raise _no_entries(entries) from None
    if listed and all(isinstance(item, bool) for item in listed):
        return array("Q", (at for at, wanted in enumerate(listed) if wanted)), len(listed)
    if any(isinstance(item, bool) for item in listed):
        raise TypeError("entries must be whole numbers, or booleans for all entries, and not both")
    try:
        return array("Q", map(index, listed)), None
    except OverflowError:
        raise RequestError("entries are counted from 0, so there are no negative ones") from None
    except TypeError:
        raise TypeError("entries must be whole numbers, or booleans for all entries") from None


def numbers_in(numbers: array[int], offset: int, length: int) -> array[int]:
    """Returns the entries of one of several trees, relative to its first entry."""
    return array("Q", (number - offset for number in numbers if offset <= number < offset + length))
