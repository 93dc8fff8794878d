"""The columns of several trees: the same in all of them, or missing values where a tree lacks one."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._errors import KeyInFileError, RequestError
from forthwith._tree.query import COMPUTED, NOTHING, Choice, Query, holding
from forthwith._tree.read import choose, read, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Literal, TypeAlias

    from forthwith._filters import BranchFilter
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns, Names
    from forthwith._tree.tree import Tree

    Missing: TypeAlias = Literal["raise", "null"]

_MOST_SAID = 5


def check_missing(missing: str) -> None:
    """Refuses other words."""
    if missing not in ("raise", "null"):
        raise RequestError(f"missing must be 'raise' or 'null', not {missing!r}")


class Common:
    """Which columns are read of each tree. Trees that differ are an error that names them.

    Attributes:
        lacking: With ``missing="null"``, the columns that a tree lacks, each with an array of its type and no entries.
        labels: With ``missing="null"``, all columns in their order.
        promoted: With ``missing="null"``, the common type of columns whose numbers trees have in several types.
    """

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
        self.lacking: dict[str, _forthwith.Array] = {}
        self.labels: list[str] = []
        self.promoted: dict[str, _forthwith.ColumnForm] = {}
        self._like: dict[str, _forthwith.Array] = {}
        self._members: dict[str, list[str]] = {}
        self._used: list[str] = []

    @property
    def is_plain(self) -> bool:
        """Whether columns are read that all trees have, of all entries or those that pass a cut."""
        return self._missing == "raise" and self._choice.entries is None and self._choice.friends is None

    def anew(self) -> Common:
        """The same request, which has seen no tree."""
        return Common(self._names, self._wanted, self._missing, self._choice)

    def survey(
        self,
        count: int,
        opened: Callable[[int], Tree],
        options: ReadOptions,
        in_order: Callable[[int], Tree] | None = None,
    ) -> None:
        """Looks at all trees before any is read, if they may differ. `in_order` opens one after the other, `opened` any."""
        if self._missing != "null":
            return
        if options.errors != "raise" or options.how == "zip":
            raise RequestError("missing='null' cannot be combined with errors= or how='zip'")
        found: dict[str, int] = {}
        everywhere: set[str] = set()
        forms: dict[str, list[_forthwith.ColumnForm]] = {}
        self._used = self._names_used()
        problem: Exception | None = None
        for at in range(count):
            with (in_order or opened)(at) as tree:
                columns, problem = self._some_of(tree)
                self.labels += [label for label, _ in columns if label not in self.labels]
                columns = self._all_of(tree)
                self._check_types(tree, columns)
                for label, form in self._forms(tree, columns):
                    known = forms.setdefault(label, [])
                    if not any(form.is_like(other) for other in known):
                        known.append(form)
            labels = [label for label, _ in columns]
            for label in labels:
                found.setdefault(label, at)
            everywhere = set(labels) if at == 0 else everywhere & set(labels)
        if problem is not None and not self.labels and not self._computes:
            raise problem
        unite = _forthwith.ColumnForm.unite
        common = {label: unite(known) for label, known in forms.items() if len(known) > 1}
        # Awkward Array merges structures that have no common type.
        self.promoted = {label: form for label, form in common.items() if form is not None}
        lacking = {label for label in found if label not in everywhere}
        like = {
            label: at for label, at in found.items() if label in lacking or (self._computes and label in self.promoted)
        }
        for at in sorted(set(like.values())):
            with opened(at) as tree:
                columns = [column for column in self._all_of(tree) if like.get(column[0]) == at]
                self._like.update(self._read(tree, columns, 0, 0, options))
        self.lacking = {label: self._like[label] for label in like if label in lacking}

    @property
    def _computes(self) -> bool:
        """Whether anything is computed or chosen: by a cut, aliases, entries or friends, or as a name is that of no column."""
        return bool(self._choice) or any(not labels for labels in self._members.values())

    def _names_used(self) -> list[str]:
        """The names in expressions, of which some may be columns."""
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
        """The columns to be read of a tree, before which there are so many entries."""
        if self._missing == "null":
            columns = self._united_of(tree, offset) if self._computes else self._some_of(tree)[0]
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
        """The columns of a tree in the types that they have in all, as something that computes and chooses."""
        here = dict(self._all_of(tree))
        names = self._members
        labels = [x for name in names for x in names[name] or [name]]
        if self._names is None:
            friends = self._choice.friends
            labels = self.labels if friends is None else [*self.labels, *friends.labels()]
        columns = [(label, COMPUTED if label in self._like else here.get(label, COMPUTED)) for label in labels]
        united = [(label, here.get(label), like, label in self.lacking) for label, like in self._like.items()]
        return Query(tree, columns, self._choice.of_part(tree, offset), united)

    def _all_of(self, tree: Tree) -> Columns:
        """The columns that a tree has, and those of it that expressions name."""
        columns = self._some_of(tree)[0]
        labels = {label for label, _ in columns}
        named = _columns(tree, [name for name in self._used if name not in labels])
        return columns + [column for column in named if column[0] not in labels]

    def _some_of(self, tree: Tree) -> tuple[Columns, Exception | None]:
        """The columns that a tree has, and why not others."""
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

    @property
    def unites(self) -> bool:
        """Whether `complete` has to read the entries, as trees lack columns or have them in other types."""
        return bool(self.lacking or self.promoted) and not self._computes

    def _forms(self, tree: Tree, columns: Columns) -> Iterator[tuple[str, _forthwith.ColumnForm]]:
        """The types of columns that can be read and are not computed."""
        for label, at in columns:
            if at != COMPUTED and (form := tree._core.column_form(at)) is not None:
                yield label, form

    def _read(
        self, tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions
    ) -> dict[str, _forthwith.Array]:
        """Columns by their labels, in the types that all trees are read in."""
        own = dict(self._forms(tree, [column for column in columns if column[0] in self.promoted]))
        changed = [
            (label, at) for label, at in columns if label in own and not own[label].is_like(self.promoted[label])
        ]
        same = [column for column in columns if column not in changed]
        found = dict(zip([label for label, _ in same], read(tree, same, start, stop, options), strict=True))
        if changed:
            united = [(label, at, self.promoted[label], False) for label, at in changed]
            core = tree._core.select([(label, None) for label, _ in changed], [], None, None, [], united)
            arrays, _ = core.read(start, stop, options.threads, options.tick)
            found.update(zip([label for label, _ in changed], arrays, strict=True))
        return found

    def complete(self, tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> Any:
        """The entries of a tree with missing values in the columns that it lacks; no entry is left out of them."""
        into = options.into()
        arrays = self._read(tree, columns, start, stop, options)
        begin, made = start + options.offset, {}
        for label in self.labels:
            if label not in self.lacking and label not in arrays:
                raise RequestError(
                    f"{tree._place()} lacks {label!r}, which it had when the files were looked at",
                    file=tree.file.file_path,
                    object=tree.path,
                )
            if label not in self.lacking:
                made[label] = into.column(label, arrays[label], begin)
            elif label in arrays:
                made[label] = into.optional(label, arrays[label], begin)
            else:
                made[label] = into.nulls(label, self.lacking[label], begin, stop - start)
        if options.how in (tuple, list):
            return options.how(made.values())
        return made if options.how is dict else into.of_columns(made, begin, stop + options.offset)


def nulls_named(error: KeyInFileError | RequestError) -> None:
    """Adds to the error of a column that a file lacks how files are read of which others have it."""
    first, *rest = error.message.split("\n")
    if first.startswith(("no branch named", "there is no column")) and 'missing="null"' not in error.message:
        at = len(rest) - sum(line.startswith("  in ") for line in rest)
        rest.insert(at, '  if other files have it, missing="null" reads missing values where one lacks it')
        error.message = "\n".join([first, *rest])
        error.args = (error.message,)


def _columns(tree: Tree, names: Iterable[str]) -> Columns:
    """Those of some names that are columns of a tree, as names in expressions are."""
    found = []
    for name in names:
        for path in dict.fromkeys((name, name.replace(".", "/"))):
            at = tree._core.found(path)
            if at is not None and tree._fields[at].has_data:
                found.append((name, at))
                break
        else:
            # Of members the whole column is what trees have or lack.
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
