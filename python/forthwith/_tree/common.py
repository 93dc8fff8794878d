"""Common columns of several trees, with missing values for columns that some trees lack."""

from __future__ import annotations

from copy import copy

from forthwith import _forthwith
from forthwith._errors import KeyInFileError, RequestError
from forthwith._filters import BranchFilter
from forthwith._tree.entry_lists import EntryLists
from forthwith._tree.query import COMPUTED, NOTHING, Choice, Query, behind, holding
from forthwith._tree.read import choose, read, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Literal, TypeAlias

    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns, Names
    from forthwith._tree.tree import Tree

    Missing: TypeAlias = Literal["raise", "null"]

_MOST_SAID = 5


def check_missing(missing: str) -> None:
    """Validates the argument ``missing``."""
    if missing not in ("raise", "null"):
        raise RequestError(f"missing must be 'raise' or 'null', not {missing!r}")


class Common:
    """Resolves the columns to read of each tree. Trees that differ raise an error that names them.

    With ``missing="null"``, columns that some trees lack, or have in another type, are read in the common
    type.

    Attributes:
        same_schemas: For each file the first one with the same fields in the same types, if the files were
            compared.
    """

    same_schemas: list[int] | None = None

    def __init__(self, names: Names, wanted: BranchFilter, missing: Missing, choice: Choice = NOTHING) -> None:
        check_missing(missing)
        self._names = (
            names if names is None or isinstance(names, str) or not hasattr(names, "__iter__") else texts(names)
        )
        self._wanted = wanted
        self._missing = missing
        self._choice = choice
        self._first: tuple[str, list[str]] | None = None
        self._types: dict[str, tuple[_forthwith.ColumnForm, str]] = {}
        # All columns in order; columns that some trees lack; the common types of these and of columns with
        # several types.
        self._labels: list[str] = []
        self._lacking: set[str] = set()
        self._united: dict[str, _forthwith.ColumnForm] = {}
        # Columns without a common type, which each tree has in its own type.
        self._apart: set[str] = set()
        self._members: dict[str, list[str]] = {}
        self._used: list[str] = []

    @property
    def looks_at_all(self) -> bool:
        """Whether trees may differ, so that `survey` has to examine them before the first read."""
        return self._missing == "null"

    @property
    def chooses_by_schema(self) -> bool:
        """Whether the choice of columns depends on names and Forms only, rather than on type names."""
        given = self._wanted.given
        return given["filter_typename"] is None and given["filter_branch"] is None

    @property
    def is_plain(self) -> bool:
        """Whether neither an entry list nor friends are used."""
        return self._choice.entries is None and self._choice.friends is None

    @property
    def has_united(self) -> bool:
        """Whether columns are read that some trees lack or have in another type."""
        return bool(self._united)

    @property
    def is_of_all(self) -> bool:
        """Whether one request applies to all trees, without friends and entry lists for single files."""
        return self._choice.friends is None and not isinstance(self._choice.entries, EntryLists)

    @property
    def choice(self) -> Choice:
        """The filter, aliases, entries and friends."""
        return self._choice

    def anew(self) -> Common:
        """Returns a copy with the result of the survey, without the trees compared so far."""
        made = copy(self)
        made._first, made._types, made._members = None, {}, dict(self._members)
        return made

    def survey(
        self,
        files: Iterable[int],
        opened: Callable[[int], Tree],
        options: ReadOptions,
        in_order: Callable[[int], Tree] | None = None,
    ) -> None:
        """Examines trees before the first read: all of them, or one of each schema.

        Args:
            files: The numbers of the trees, in ascending order.
            opened: Function that opens any tree.
            options: The options of the read.
            in_order: Function that opens the trees in order.
        """
        if options.errors != "raise" or options.how == "zip":
            raise RequestError("missing='null' cannot be combined with errors= or how='zip'")
        found: dict[str, int] = {}
        everywhere: set[str] | None = None
        forms: dict[str, list[_forthwith.ColumnForm]] = {}
        self._used = self._names_used()
        problem: Exception | None = None
        for at in files:
            with (in_order or opened)(at) as tree:
                columns, problem = self._some_of(tree)
                self._labels += [label for label, _ in columns if label not in self._labels]
                columns = self._all_of(tree)
                self._check_types(tree, columns)
                for label, form in self._forms(tree, columns):
                    known = forms.setdefault(label, [])
                    if not any(form.is_like(other) for other in known):
                        known.append(form)
            labels = [label for label, _ in columns]
            for label in labels:
                found.setdefault(label, at)
            everywhere = set(labels) if everywhere is None else everywhere & set(labels)
        if problem is not None and not self._labels and not self._computes:
            raise problem
        self._lacking = {label for label in found if label not in (everywhere or ())}
        unite = _forthwith.ColumnForm.unite
        for label, at in found.items():
            known = forms.get(label, [])
            if not known and label in self._lacking:
                with opened(at) as tree:
                    # The column cannot be read, and this raises the error with the reason.
                    read(tree, [column for column in self._all_of(tree) if column[0] == label], 0, 0, options)
            if len(known) > 1 or (known and label in self._lacking):
                common = unite(known)
                if common is None:
                    # Awkward Array merges structures without a common type.
                    self._apart.add(label)
                if common is not None or label in self._lacking:
                    self._united[label] = known[0] if common is None else common

    @property
    def _computes(self) -> bool:
        """Whether a filter, aliases, entries, friends or computed columns are used."""
        return bool(self._choice) or any(not labels for labels in self._members.values())

    def _names_used(self) -> list[str]:
        """Returns the names in expressions, some of which may be columns."""
        names = self._names
        texts = [] if names is None else [names] if isinstance(names, str) else list(names)
        known = [*self._choice.aliases.values(), *([] if self._choice.cut is None else [self._choice.cut])]
        used: list[str] = []
        for text in [*known, *texts]:
            try:
                used += _forthwith.expression_names(text)
            except RequestError:
                if text in known:
                    raise  # a name in texts may be no expression
        return [name for name in dict.fromkeys(used) if name not in self._choice.aliases]

    def of(self, tree: Tree, offset: int) -> Columns:
        """Returns the columns to read of a tree, which is preceded by ``offset`` entries."""
        if self._missing == "null":
            columns = self._united_of(tree, offset) if self._computes or self._united else self._some_of(tree)[0]
        else:
            choice = self._choice.of_part(tree, offset)
            try:
                columns = choose(tree, self._names, self._wanted, choice=choice)
            except (KeyInFileError, RequestError) as error:
                nulls_named(error)
                raise
            self._check_names(tree, [label for label, _ in columns])
        self._check_types(tree, columns)
        return columns

    def _united_of(self, tree: Tree, offset: int) -> Query:
        """Returns a query of the columns of a tree in their common types."""
        here = dict(self._all_of(tree))
        names = self._members
        labels = [x for name in names for x in names[name] or [name]]
        if self._names is None:
            friends = self._choice.friends
            labels = self._labels if friends is None else [*self._labels, *friends.labels()]
        for label in self._labels:
            if label not in here and label not in self._united:
                raise RequestError(
                    f"{tree._place()} lacks {label!r}, which it had when the files were looked at",
                    file=tree.file.file_path,
                    object=tree.path,
                )
        columns = [(label, COMPUTED if label in self._united else here.get(label, COMPUTED)) for label in labels]
        forms = dict(self._forms(tree, [column for column in here.items() if column[0] in self._apart]))
        united = [
            (label, here.get(label), forms.get(label, form), label in self._lacking)
            for label, form in self._united.items()
        ]
        return Query(tree, columns, self._choice.of_part(tree, offset), united)

    def _all_of(self, tree: Tree) -> Columns:
        """Returns the selected columns of a tree, and columns that expressions name."""
        columns = self._some_of(tree)[0]
        labels = {label for label, _ in columns}
        named = _columns(tree, [name for name in self._used if name not in labels])
        return columns + [column for column in named if column[0] not in labels]

    def _some_of(self, tree: Tree) -> tuple[Columns, Exception | None]:
        """Returns the selected columns of a tree, and the error if some are missing."""
        columns: Columns = []
        problem: Exception | None = None
        names = self._names
        for name in [names] if names is None or isinstance(names, str) else names:
            try:
                found = choose(tree, name, self._wanted, strict=False, aliases=self._choice.aliases)
            except (KeyInFileError, ValueError) as error:
                found, problem = [], error
            columns += found
            if name is not None:
                labels = self._members.setdefault(name, [])
                labels += [label for label, _ in found if label not in labels]
        return columns, problem

    def _check_names(self, tree: Tree, labels: list[str]) -> None:
        here = tree._place()
        if self._first is None:
            self._first = here, labels
            return
        there, first = self._first
        lacks, more = _without(first, labels), _without(labels, first)
        if not lacks and not more:
            return
        parts = [f"{here} lacks {_said(lacks)}, which {there} has"] if lacks else []
        parts += [f"{here} has {_said(more)}, which {there} lacks"] if more else []
        raise RequestError(
            f"the files have different branches: {'; '.join(parts)}\n"
            '  name the branches that all files have, or read all of them with missing="null", which fills in missing values',
            file=tree.file.file_path,
            object=tree.path,
        )

    def _check_types(self, tree: Tree, columns: Columns) -> None:
        for label, form in self._forms(tree, columns):
            if form.is_structured:
                continue
            first, place = self._types.setdefault(label, (form, tree._place()))
            if _forthwith.ColumnForm.unite([first, form]) is None:
                raise RequestError(
                    f"{label!r} is {form} in {tree._place()}, but {first} in {place}",
                    file=tree.file.file_path,
                    object=f"{tree.path}/{label}",
                )

    def _forms(self, tree: Tree, columns: Columns) -> Iterator[tuple[str, _forthwith.ColumnForm]]:
        """Iterates over the types of stored columns that can be read."""
        for label, at in columns:
            if at != COMPUTED and (form := tree._core.column_form(at)) is not None:
                yield label, form


class PlainColumns:
    """Selects columns by name, of all entries, for a reader that compares types itself.

    Args:
        names: The columns.
        needed: All columns that trees must have, in the order of the check.
    """

    is_of_all = chooses_by_schema = True
    choice = NOTHING

    def __init__(self, names: list[str], needed: list[str]) -> None:
        self._names = names
        self._needed = needed

    def of(self, tree: Tree, offset: int) -> Columns:
        """Returns the columns to read of a tree.

        Raises:
            KeyInFileError: The tree lacks a column.
        """
        del offset
        behind(tree, self._needed)
        return choose(tree, self._names, BranchFilter())


def nulls_named(error: KeyInFileError | RequestError) -> None:
    """Adds a hint at ``missing="null"`` to the error of a missing column."""
    first, *rest = error.message.split("\n")
    if first.startswith(("no branch named", "there is no column")) and 'missing="null"' not in error.message:
        at = len(rest) - sum(line.startswith("  in ") for line in rest)
        rest.insert(at, '  if other files have it, missing="null" reads missing values where one lacks it')
        error.message = "\n".join([first, *rest])
        error.args = (error.message,)


def _columns(tree: Tree, names: Iterable[str]) -> Columns:
    """Returns the columns of a tree among some names, as expressions resolve them."""
    found = []
    for name in names:
        for path in dict.fromkeys((name, name.replace(".", "/"))):
            at = tree._core.found(path)
            if at is not None and tree._fields[at].has_data:
                found.append((name, at))
                break
        else:
            # Trees have, or lack, the whole column of a member.
            if (whole := holding(tree, name)) is not None and whole not in found:
                found.append(whole)
    return found


def _without(labels: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [label for label in labels if label not in known]


def _said(labels: Iterable[str]) -> str:
    names = [repr(label) for label in labels]
    more = f" and {len(names) - _MOST_SAID} more" if len(names) > _MOST_SAID else ""
    return ", ".join(names[:_MOST_SAID]) + more
