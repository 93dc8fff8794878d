"""Branches: the columns of a tree."""

from __future__ import annotations

from forthwith import _keywords, _show
from forthwith._entries import whole
from forthwith._errors import RequestError, UnsupportedError
from forthwith._packages import package
from forthwith._tree import typed, walk
from forthwith._tree.branches import HasBranches
from forthwith._tree.bulk import bulk
from forthwith._tree.protocols import numpy_array, tensor
from forthwith._tree.query import chosen, query
from forthwith._tree.read import entries_of_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, NoReturn, Self

    from forthwith import _forthwith
    from forthwith._interop.base import LibraryName
    from forthwith._tree.bulk import Bulk
    from forthwith._tree.damage import Loss
    from forthwith._tree.options import Errors, Progress
    from forthwith._tree.read import Names
    from forthwith._tree.tree import Tree

_ARRAY = frozenset(
    (
        "interpretation",
        "entry_start",
        "entry_stop",
        "cut",
        "aliases",
        "friends",
        "entries",
        "library",
        "errors",
        "lost",
        "threads",
        "progress",
        "logical",
    )
)


class Branch(HasBranches):
    """A branch of a tree: a column, a mapping from names to branches within it, or both."""

    def __init__(self, tree: Tree, index: int) -> None:
        self._owner = tree
        self._index: int = index
        self._field = tree._fields[index]
        self._path = self._field.path

    @property
    def _tree(self) -> Tree:
        return self._owner

    @property
    def _description(self) -> _forthwith.Description:
        return self._tree._describe(self._index)

    @property
    def tree(self) -> Tree:
        """The tree of this branch."""
        return self._tree

    @property
    def parent(self) -> HasBranches:
        """The parent branch, or the tree."""
        parent = self._field.parent
        return self._tree if parent is None else self._tree._branch(parent)

    @property
    def name(self) -> str:
        """Name of the branch, as stored."""
        return self._field.name

    @property
    def path(self) -> str:
        """Path within the tree, such as ``a/a.b``."""
        return self._path

    @property
    def object_path(self) -> str:
        """Absolute path within the file, such as ``/dir/tree/branch``."""
        return f"{self._tree.object_path}/{self._path}"

    @property
    def entry_offsets(self) -> list[int]:
        """First entry of each basket, and the number of entries."""
        if self._is_said:
            return sorted({0, self.num_entries})
        plan = self._tree._core.plan([self._index], *self._range(None, None))
        blocks = [block.entries for block in plan.blocks() if block.group == 0]
        return sorted({entry for entries in blocks for entry in entries}) or [0]

    @property
    def _is_said(self) -> bool:
        """Whether this is a Hive partition column, which has no baskets."""
        return self.path in self._tree._said

    @property
    def title(self) -> str:
        """Title of the branch, set by its writer."""
        return self._field.title

    @property
    def has_data(self) -> bool:
        """Whether the branch has data of its own, rather than only children."""
        return self._field.has_data

    @property
    def typename(self) -> str:
        """Type of the branch, as in C++."""
        return self._description.typename

    @property
    def num_entries(self) -> int:
        """Number of entries, which may be smaller than that of the tree."""
        return self._description.entries if self.has_data else self._tree.num_entries

    @property
    def num_baskets(self) -> int:
        """Number of baskets."""
        return self._description.blocks

    @property
    def compressed_bytes(self) -> int:
        """Compressed size in bytes."""
        return self._description.stored_bytes

    @property
    def uncompressed_bytes(self) -> int:
        """Decompressed size in bytes."""
        return self._description.payload_bytes

    @property
    def compression_ratio(self) -> float:
        """Ratio of decompressed to compressed size."""
        return self.uncompressed_bytes / max(1, self.compressed_bytes)

    @property
    def form_json(self) -> str:
        """The type of the resulting array, as an Awkward Form in JSON.

        Raises:
            UnsupportedError: The branch cannot be read.
        """
        description = self._description
        if not self.has_data and self._field.has_children:
            return _record_of(self)
        if description.form is None:
            raise UnsupportedError(
                f"not supported yet: {description.problem or description.typename}\n"
                f"  in {self._tree._place(self._path)}",
                file=self.file.file_path,
                object=f"{self._tree.path}/{self._path}",
            )
        return description.form

    @property
    def form(self) -> Any:
        """The type of the resulting array, as an Awkward Form. Requires Awkward Array, unlike `form_json`."""
        return package("awkward").forms.from_json(self.form_json)

    @property
    def interpretation(self) -> Interpretation:
        """The type of the resulting array, and the decoder."""
        return Interpretation(self)

    @property
    def forth(self) -> str | None:
        """The AwkwardForth program that decodes the branch; ``None`` if no program is needed."""
        return self._description.forth

    def explain(self) -> _show.Text:  # type: ignore[override]
        """Describes how the branch is read, by which decoder and why, or why it cannot be read."""
        return _show.Text(_show.explain(self))

    def _range(self, entry_start: int | None, entry_stop: int | None) -> tuple[int, int]:
        return entries_of_branch(self._tree, self._index, entry_start, entry_stop)

    def to_list(self, names: Names = None, **options: Any) -> list[Any]:
        """Returns all values as Python objects; for a branch with children, a dict for each entry.

        Args:
            names: Names of child branches, as in `arrays`.
            options: As in `rows`.
        """
        rows = super().to_list(names, **options)
        return rows if names is not None or self.keys() else [next(iter(row.values())) for row in rows]

    @typed.array
    def array(
        self,
        interpretation: Interpretation | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        entries: Any = None,
        friends: Mapping[str, Any] | None = None,
        library: LibraryName = "ak",
        errors: Errors = "raise",
        lost: list[Loss] | None = None,
        threads: int | None = None,
        progress: Progress | bool | None = None,
        logical: bool = True,
        **unknown: Any,
    ) -> Any:
        """Reads the branch.

        A branch without data of its own is read as a record of its children, as by ``arrays``.

        Args:
            interpretation: ``None`` or `Branch.interpretation`, as the type follows from the file. For
                compatibility with uproot, where it is positional.
            entry_start: The first entry of the tree; negative numbers count from the end.
            entry_stop: The entry after the last; negative numbers count from the end.
            cut: Expression over branches of the tree that filters entries, as in ``arrays``.
            aliases: Names of expressions for ``cut``.
            entries: Numbers of entries of the tree, or a boolean for each entry, as in ``arrays``.
            friends: Trees or chains whose columns ``cut`` and ``aliases`` may use, as in ``arrays``.
            library: ``"ak"`` for an Awkward Array, ``"np"`` for a NumPy array, ``"pd"`` for a pandas Series, ``"pl"`` for a
                polars Series, ``"arrow"`` for a pyarrow array.
            errors: The treatment of damaged entries, as in ``arrays``: ``"raise"``, ``"skip"`` or ``"null"``.
            lost: A list to which a `Loss` is appended for each unreadable range of entries, as in ``arrays``.
            threads: Number of threads, including the calling one; by default that of ``open``.
            progress: Callback for progress, as in ``arrays``; ``True`` shows a progress bar.
            logical: Whether dates, times and decimals have their logical types, as in ``arrays``.
            unknown: Unknown arguments are refused, as in ``arrays``.
        """
        _keywords.refuse("array", unknown, _ARRAY)
        if interpretation is not None and not self._is_own(interpretation):
            start, stop = whole(interpretation), whole(entry_start)
            first, last = (0, 100) if start is None else (start, "…" if stop is None else stop)
            raise TypeError(
                f"array(interpretation, entry_start, entry_stop) has no other interpretation than the branch's own, "
                f"not {interpretation!r}; entries are given by name: array(entry_start={first}, entry_stop={last})"
            )
        if not self.has_data:
            return self.arrays(
                entry_start=entry_start,
                entry_stop=entry_stop,
                cut=cut,
                aliases=aliases,
                entries=entries,
                friends=friends,
                library=library,
                errors=errors,
                lost=lost,
                threads=threads,
                progress=progress,
                logical=logical,
            )
        from forthwith._tree.options import ReadOptions

        options = ReadOptions(library, None, errors, lost, threads, progress, logical=logical)
        sound = self._sound(options)
        start, stop = sound._range(entry_start, entry_stop)
        columns = query(sound._tree, [(self.name, self._index)], chosen(cut, aliases, entries, friends))
        return walk.array(sound._tree, columns, start, stop, options)

    @property
    def _is_column(self) -> bool:
        return self._alone is not None and self.has_data

    def _refuse(self) -> NoReturn:
        if self._alone is None:
            super()._refuse()
        raise TypeError(f"{self!r} is no array: .array() reads it")

    def _is_own(self, interpretation: object) -> bool:
        return isinstance(interpretation, Interpretation) and interpretation._branch == self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Returns the values as a NumPy array: numbers, dates, text, records and fixed-size arrays.

        Raises:
            TypeError: NumPy cannot represent the values without loss, or the branch has no data of its own.
        """
        if not self._is_column:
            self._refuse()
        import json  # not at the top: it costs as much as the package

        values = numpy_array(self, [json.loads(self.form_json)])
        return package("numpy").asarray(values, dtype=dtype)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Returns the values for ``pyarrow.array``, of any readable type."""
        if not self._is_column:
            self._refuse()
        array = self.array(library="arrow")
        return array if type is None else array.cast(type)

    def __dlpack__(self, **options: Any) -> Any:
        """Returns the values as a tensor, for types that ``__array__`` supports."""
        return tensor(self, options)

    def __dlpack_device__(self) -> Any:
        """Returns the device of CPU memory."""
        return package("numpy").empty(0).__dlpack_device__()

    def to_numpy(self) -> Any:
        """Returns the values as a NumPy array, as ``numpy.asarray`` does."""
        return self.__array__()

    def __len__(self) -> int:
        """Returns the number of child branches, or, without child branches, the number of entries."""
        return self.num_entries if self._is_column else super().__len__()

    def __iter__(self) -> Iterator[str]:
        if self._is_column:
            raise TypeError(f"{self!r} holds data and no branches: .array() reads it; keys() is empty")
        return super().__iter__()

    def _find(self, name: str) -> int:
        if self._alone is not None and not isinstance(name, str):
            raise TypeError(f"{self!r} is no array: .array(entry_start=..., entry_stop=...) reads some entries of it")
        return super()._find(name)

    def bulk(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        raw: bool = False,
        threads: int | None = None,
    ) -> Bulk:
        """Iterates over the branch one basket at a time, with minimal overhead.

        The type of the result is known beforehand: a `KernelBulk` of `KernelBatch`, a `ProgramBulk` of
        `ProgramBatch`, or with ``raw`` a `RawBulk` of `RawBatch`.

        Args:
            entry_start: The first entry; negative numbers count from the end.
            entry_stop: The entry after the last; negative numbers count from the end.
            raw: Whether to keep the stored layout: numbers are big-endian, as a NumPy array with a dtype such
                as ``>f4``. Nothing is copied if the file is mapped (``open(..., source="map")``) and the
                basket uncompressed; such a view changes with the file. Raw baskets are complete, including
                the first and the last one.
            threads: Number of threads, including the calling one; one thread decodes one basket.

        Raises:
            RequestError: The branch is a Hive partition column, which has no baskets.
        """
        if self._is_said:
            raise RequestError(
                f"{self.path!r} has no baskets: the folders of the file say it, not the file itself",
                file=self._tree.file.file_path,
                object=self._tree.path,
            )
        start, stop = self._range(entry_start, entry_stop)
        return bulk(self, start, stop, raw, threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.file.close()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Branch) and self._tree == other._tree and self._index == other._index
        )

    def __hash__(self) -> int:
        return hash((self._tree, self._index))

    def __repr__(self) -> str:
        inside = f" ({len(self)} branches)" if self._field.has_children else ""
        return f"<Branch {self._path!r}{inside} of {self._tree._called!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Branch, (self._tree, self._index)


def _record_of(branch: Branch) -> str:
    """Returns the Form of a branch with children only: a record of those with data, by their paths."""
    import json

    members = [(path, branch._tree._branch(at)) for path, at in branch._members()]
    contents = {}
    for number, (path, member) in enumerate((path, member) for path, member in members if member.has_data):
        # Keys of buffers are unique within one column, but this record has several.
        contents[path] = json.loads(member.form_json.replace('"form_key":"', f'"form_key":"column{number}-'))
    form = {"class": "RecordArray", "fields": list(contents), "contents": list(contents.values())}
    return json.dumps({**form, "parameters": {}, "form_key": "group"})


class Interpretation:
    """The type that a branch is read as.

    Attributes:
        decoder: ``"kernel"``, ``"program"``, ``"format"`` (decoded by the format), or ``None`` if unreadable.
        reason: Reason for the decoder, or for its absence.
    """

    def __init__(self, branch: Branch) -> None:
        description = branch._description
        self._branch = branch
        self._type = description.type_string
        self.decoder = description.decoder
        self.reason = description.reason or description.problem or ""

    def awkward_form(self, file: object = None) -> Any:
        """Returns the Awkward Form, as `Branch.form`. ``file`` is ignored, for compatibility with uproot."""
        del file
        return self._branch.form

    def __repr__(self) -> str:
        if self._type is not None:
            return f"{self._type} ({self.decoder})"
        if not self._branch.has_data:
            return f"group of {len(self._branch)}"
        return f"not supported yet: {self.reason.removeprefix('not supported yet: ')}"
