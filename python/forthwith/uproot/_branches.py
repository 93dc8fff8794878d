"""What trees and branches have in common, in uproot's words: branches by name, and reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from forthwith import _filters
from forthwith._entries import memory_size as memory_size_of
from forthwith.uproot import _reading
from forthwith.uproot._cache import cache_of
from forthwith.uproot._computed import Computed, branches_of
from forthwith.uproot._in_file import InFile
from forthwith.uproot._library import Awkward, library_of
from forthwith.uproot._members import Once
from forthwith.uproot._options import check_language, no_filter, python_language
from forthwith.uproot._show import show
from forthwith.uproot._virtual import check_alone, virtual_arrays
from forthwith.uproot._wanted import Wanted, _pairs, filtered, named, names_of


def entry_range(num_entries: int, start: Any, stop: Any) -> tuple[int, int]:
    """The entries meant, as slices count them."""
    first, last, _ = slice(start, stop).indices(num_entries)
    return first, max(first, last)


def filter_of(given: Any, name: str) -> Any:
    """A filter as forthwith takes it; ``None`` if all pass."""
    return None if given is no_filter else _filters.predicate(given, name)


class Report:
    """The place of a step of ``iterate``."""

    def __init__(self, source: Any, tree_entry_start: int, tree_entry_stop: int, global_offset: int = 0) -> None:
        self._source, self._start, self._stop = source, tree_entry_start, tree_entry_stop
        self._offset = global_offset

    @property
    def source(self) -> Any:
        """The tree or branch that is read."""
        return self._source

    @property
    def tree(self) -> Any:
        """The tree."""
        return self._source.tree

    @property
    def file(self) -> Any:
        """The file."""
        return self._source.file

    @property
    def file_path(self) -> str:
        """The path of the file."""
        return str(self._source.file.file_path)

    @property
    def tree_entry_start(self) -> int:
        """The first entry, counted in the tree."""
        return self._start

    @property
    def tree_entry_stop(self) -> int:
        """The entry after the last, counted in the tree."""
        return self._stop

    @property
    def global_entry_start(self) -> int:
        """The first entry, counted in all files."""
        return self._start + self._offset

    @property
    def global_entry_stop(self) -> int:
        """The entry after the last, counted in all files."""
        return self._stop + self._offset

    @property
    def start(self) -> int:
        """The first entry, counted in all files."""
        return self.global_entry_start

    @property
    def stop(self) -> int:
        """The entry after the last, counted in all files."""
        return self.global_entry_stop

    @property
    def global_offset(self) -> int:
        """Entries of the files before."""
        return self._offset

    def to_global(self, global_offset: int) -> Report:
        """The same behind so many entries of other files."""
        return Report(self._source, self._start, self._stop, global_offset)

    def __repr__(self) -> str:
        return f"<Report start={self.start} stop={self.stop} source={self._source!r}>"


class HasBranches(InFile, Mapping[str, Any]):
    """A mapping from names to branches, which reads them."""

    _tree: Any
    _index: int | None

    @property
    def branches(self) -> list[Any]:
        """The branches directly here."""
        fields = self._tree.forthwith._fields
        children = self._tree.forthwith._children.get(self._index, ())
        return [self._tree._branch(at) for at in children if not fields[at].is_part]

    @property
    def source(self) -> Any:
        """The bytes of the file."""
        return self._file.source

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        raise NotImplementedError

    @property
    def _is_alone(self) -> bool:
        """Whether this is a branch without others in it."""
        return False

    @property
    def forthwith(self) -> Any:
        """The tree or branch of forthwith's."""
        raise NotImplementedError

    def _passing(
        self,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        recursive: Any = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, int]]:
        """Names and places in the tree of the branches that pass. The arguments are those of `iteritems`."""
        by_name, by_type = filter_of(filter_name, "filter_name"), filter_of(filter_typename, "filter_typename")
        by_branch = None if filter_branch in (None, no_filter) else filter_branch
        tree = self._tree
        fields = tree.forthwith._fields
        rooted = not callable(filter_name)
        # All branches of a tree by their paths need no more than these.
        alone = by_name is None and full_paths and recursive and self is tree
        if alone and not (by_type or by_branch or ignore_duplicates):
            yield from fields.members()
            return
        seen = set()
        for path, at in self.forthwith._members(bool(recursive)):
            name = path
            if not alone:
                field = fields[at]
                own = field.name
                if field.is_part:
                    continue
                if by_name and not (
                    by_name(own) or (path != own and by_name(path)) or (rooted and by_name("/" + path))
                ):
                    continue
                name = path if full_paths else own
            if by_type and not by_type(tree._typename(at)):
                continue
            if by_branch and by_branch(tree._branch(at)) in (None, False):
                continue
            if ignore_duplicates:
                if name in seen:
                    continue
                seen.add(name)
            yield name, at

    def iteritems(
        self,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        recursive: Any = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, Any]]:
        """Names and branches that pass the filters.

        Args:
            filter_name: A name, a glob, ``"/regex/flags"``, a function, or several of these.
            filter_typename: The same, of type names.
            filter_branch: A function of a branch.
            recursive: Whether branches in branches are meant, too.
            full_paths: Whether these are named by their path.
            ignore_duplicates: Whether names come once only.
        """
        branch = self._tree._branch
        for name, at in self._passing(
            filter_name, filter_typename, filter_branch, recursive, full_paths, ignore_duplicates
        ):
            yield name, branch(at)

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Names of the branches that pass. The arguments are those of `iteritems`."""
        return (name for name, _ in self._passing(**filters))

    def itervalues(self, **filters: Any) -> Iterator[Any]:
        """Branches that pass. The arguments are those of `iteritems`."""
        return (branch for _, branch in self.iteritems(**filters))

    def itertypenames(self, **filters: Any) -> Iterator[tuple[str, str]]:
        """Names and type names of the branches that pass. The arguments are those of `iteritems`."""
        typename = self._tree._typename
        return ((name, typename(at)) for name, at in self._passing(**filters))

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Names of the branches that pass. The arguments are those of `iteritems`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters: Any) -> list[Any]:  # type: ignore[override]
        """Branches that pass. The arguments are those of `iteritems`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Names and branches that pass. The arguments are those of `iteritems`."""
        return list(self.iteritems(**filters))

    def typenames(self, **filters: Any) -> dict[str, str]:
        """Type names by name. The arguments are those of `iteritems`."""
        return dict(self.itertypenames(**filters))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.branches)

    def __len__(self) -> int:
        return len(self.branches)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._lookup(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """The branch of this name or path, or ``default`` if there is none."""
        at = self._lookup(name)
        return default if at is None else self._tree._branch(at)

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __getitem__(self, where: Any) -> Any:
        """The branch of a name or path; one that begins with ``/`` is a path from here."""
        if hasattr(where, "__index__"):
            return self.branches[where]
        if not isinstance(where, str):
            raise TypeError(f"branches are found by name, not by {where!r}")
        at = self._lookup(where)
        if at is None:
            # The error has the names that are similar.
            at = self.forthwith._find(where if not where.startswith("/") else f"./{where.strip('/')}")
        return self._tree._branch(at)

    def _lookup(self, where: str) -> int | None:
        """The position of the branch of a name or path in the tree; ``None`` if there is none."""
        name = where.strip("/")
        if where.startswith("/"):
            return next((at for path, at in self.forthwith._members() if path == name), None)
        found: int | None = self.forthwith._lookup(name)
        if found is None:
            found = self._firsts.get(name)
        if found is None:
            # A path from a branch that is named.
            first, _, rest = name.partition("/")
            at = self._lookup(first) if rest else None
            found = None if at is None else self._tree._branch(at)._lookup(rest)
        return found

    @Once
    def _firsts(self) -> dict[str, int]:
        """The positions of branches by their own names: of a name that several have, the first."""
        fields = self._tree.forthwith._fields
        found: dict[str, int] = {}
        for _, at in self.forthwith._members():
            found.setdefault(fields[at].name, at)
        return found

    def show(
        self,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        recursive: Any = True,
        full_paths: bool = True,
        name_width: int = 20,
        typename_width: int = 24,
        interpretation_width: int = 30,
        stream: Any = None,
    ) -> None:
        """Prints the branches: names, types, interpretations."""
        pairs = self.iteritems(
            filter_name=filter_name,
            filter_typename=filter_typename,
            filter_branch=filter_branch,
            recursive=recursive,
            full_paths=full_paths,
        )
        rows = [("", self)] if self._is_alone else []
        show([*rows, *pairs], (name_width, typename_width, interpretation_width), stream)

    def arrays(
        self,
        expressions: Any = None,
        cut: str | None = None,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        aliases: Mapping[str, str] | None = None,
        language: Any = python_language,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        decompression_executor: Any = None,
        interpretation_executor: Any = None,
        library: Any = "ak",
        array_cache: Any = "inherit",
        ak_add_doc: Any = False,
        how: Any = None,
        virtual: bool = False,
        access_log: Any = None,
    ) -> Any:
        """Reads several branches.

        Args:
            expressions: Names of branches, expressions, or with their interpretations a dict or pairs.
            cut: An expression; entries for which it is false are left out.
            filter_name: As in `iteritems`; where there are no ``expressions``.
            filter_typename: As in `iteritems`.
            filter_branch: As in `iteritems`, or a function that gives an interpretation.
            aliases: Names for expressions.
            language: That of expressions, which is uproot's; another one is refused.
            entry_start: The first entry.
            entry_stop: The entry after the last.
            decompression_executor: Accepted without effect.
            interpretation_executor: Accepted without effect.
            library: ``"ak"``, ``"np"`` or ``"pd"``.
            array_cache: A mapping of arrays that were read, or the bytes of one; ``"inherit"`` is that of ``open``.
            ak_add_doc: Whether arrays carry the titles of branches, or which parameters they carry.
            how: ``tuple``, ``list``, ``dict``, or with Awkward Array ``"zip"``.
            virtual: Whether columns are read when they are first touched.
            access_log: A list that gets a record of each of these readings.
        """
        check_language(language)
        library = library_of(library)
        if virtual:
            check_alone(library, how=how, expressions=expressions, cut=cut, aliases=aliases)
            passing = filtered(self, filter_name, filter_typename, filter_branch)
            return virtual_arrays(self, passing, entry_range(self.num_entries, entry_start, entry_stop), access_log)
        if access_log is not None:
            raise ValueError("'access_log' cannot be used with 'virtual=False'")
        start, stop = entry_range(self.num_entries, entry_start, entry_stop)
        wanted, order = self._wanted(expressions, cut, filter_name, filter_typename, filter_branch, aliases)
        if wanted is None:
            return self._computed(order, cut, aliases, start, stop, library, how)
        cache = cache_of(array_cache, self._file)
        return self._read(wanted, order, start, stop, library, how, ak_add_doc, cache)

    def _wanted(
        self, expressions: Any, cut: Any, filter_name: Any, filter_typename: Any, filter_branch: Any, aliases: Any
    ) -> tuple[list[Wanted] | None, list[str]]:
        """The branches wanted, or ``None`` where something has to be computed; and the names in their order."""
        if expressions is None:
            wanted: Any = filtered(self, filter_name, filter_typename, filter_branch)
            return (wanted if cut is None else None), [one.label for one in wanted]
        known = dict(aliases or {})
        names = [name for name, _ in _named_pairs(expressions)]
        if any(name in known for name in names):
            return None, names_of(expressions)
        wanted = named(self, expressions)
        if wanted is None or cut is not None:
            return None, names_of(expressions)
        return wanted, [one.label for one in wanted]

    def _read(
        self,
        wanted: list[Wanted],
        order: list[str],
        start: int,
        stop: int,
        library: Any,
        how: Any,
        ak_add_doc: Any,
        cache: Any,
    ) -> Any:
        columns = _reading.columns(self._tree, wanted, start, stop, library, self, cache)
        columns = self._documented(columns, wanted, library, ak_add_doc)
        return library.group(columns, order, how, stop - start, start)

    def _documented(
        self, columns: dict[str, Any], wanted: list[Wanted], library: Any, ak_add_doc: Any
    ) -> dict[str, Any]:
        if not ak_add_doc or not isinstance(library, Awkward):
            return columns
        branches = {one.label: one.branch for one in wanted}
        return {label: _reading.documented(column, branches[label], ak_add_doc) for label, column in columns.items()}

    def _computed(self, names: list[str], cut: Any, aliases: Any, start: int, stop: int, library: Any, how: Any) -> Any:
        columns, length = Computed(self, names, cut, aliases, library).read(start, stop)
        return library.group(columns, names, how, length, start)

    def iterate(
        self,
        expressions: Any = None,
        cut: str | None = None,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        aliases: Mapping[str, str] | None = None,
        language: Any = python_language,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        step_size: int | str = "100 MB",
        decompression_executor: Any = None,
        interpretation_executor: Any = None,
        library: Any = "ak",
        ak_add_doc: Any = False,
        how: Any = None,
        report: bool = False,
        array_cache: Any = None,
    ) -> Iterator[Any]:
        """Reads several branches, some entries at a time.

        Args:
            expressions: As in `arrays`.
            cut: As in `arrays`.
            filter_name: As in `arrays`.
            filter_typename: As in `arrays`.
            filter_branch: As in `arrays`.
            aliases: As in `arrays`.
            language: As in `arrays`.
            entry_start: As in `arrays`.
            entry_stop: As in `arrays`.
            step_size: Entries in a step, or text such as ``"100 MB"``, about how much decompressed data.
            decompression_executor: Accepted without effect.
            interpretation_executor: Accepted without effect.
            library: As in `arrays`.
            ak_add_doc: As in `arrays`.
            how: As in `arrays`.
            report: Whether each step comes with a `Report` of its place.
            array_cache: As in `arrays`.
        """
        check_language(language)
        library = library_of(library)
        cache = cache_of(array_cache, self._file)
        start, stop = entry_range(self.num_entries, entry_start, entry_stop)
        wanted, order = self._wanted(expressions, cut, filter_name, filter_typename, filter_branch, aliases)
        if isinstance(step_size, int):
            if step_size < 1:
                raise ValueError(f"step_size must be at least 1, not {step_size}")
            step = step_size
        else:
            branches = [one.branch for one in wanted] if wanted is not None else self._behind(order, cut, aliases)
            step = self._entries_in(branches, step_size)
        for first, last, found in self._steps(
            wanted, order, cut, aliases, (start, stop, step), library, how, ak_add_doc, cache
        ):
            yield (found, Report(self, first, last)) if report else found

    def _steps(
        self,
        wanted: list[Wanted] | None,
        order: list[str],
        cut: Any,
        aliases: Any,
        span: tuple[int, int, int],
        library: Any,
        how: Any,
        ak_add_doc: Any,
        cache: Any,
    ) -> Iterator[tuple[int, int, Any]]:
        """Each step with its first entry and the one after its last."""
        if wanted is None:
            for first, last, columns, length in Computed(self, order, cut, aliases, library).steps(*span):
                yield first, last, library.group(columns, order, how, length, first)
        elif cache is None:
            for first, last, read in _reading.steps(self._tree, wanted, *span, library):
                columns = self._documented(read, wanted, library, ak_add_doc)
                yield first, last, library.group(columns, order, how, last - first, first)
        else:
            start, stop, step = span
            for first in range(start, stop, step):
                last = min(first + step, stop)
                yield first, last, self._read(wanted, order, first, last, library, how, ak_add_doc, cache)

    def _behind(self, names: list[str], cut: Any, aliases: Any) -> list[Any]:
        return branches_of(self, names, cut, aliases)

    def _entries_in(self, branches: list[Any], memory_size: int | str) -> int:
        size = memory_size_of(memory_size, "memory_size")
        entries = max(1, self.num_entries)
        stored = sum(one._payload_bytes for branch in branches for one in leaves(branch))
        return max(1, round(size * entries / stored)) if stored else max(1, entries)

    def num_entries_for(
        self,
        memory_size: int | str,
        expressions: Any = None,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        aliases: Any = None,
        language: Any = python_language,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        cut: str | None = None,
        decompression_executor: Any = None,
        interpretation_executor: Any = None,
        array_cache: Any = None,
    ) -> int:
        """About how many entries of some branches take so much memory, at least one. The arguments are those of `arrays`."""
        check_language(language)
        wanted, order = self._wanted(expressions, cut, filter_name, filter_typename, filter_branch, aliases)
        branches = [one.branch for one in wanted] if wanted is not None else self._behind(order, cut, aliases)
        return self._entries_in(branches, memory_size)

    def common_entry_offsets(
        self,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_branch: Any = no_filter,
        recursive: Any = True,
    ) -> list[int]:
        """The entries at which baskets of all of some branches begin, and the number of entries."""
        common: set[int] | None = None
        for _, at in self._passing(filter_name, filter_typename, filter_branch, recursive):
            branch = self._tree._branch(at)
            if not branch._is_group:
                offsets = set(branch.entry_offsets)
                common = offsets if common is None else common & offsets
        return sorted(common if common is not None else {0, self.num_entries})


def _named_pairs(expressions: Any) -> list[tuple[str, Any]]:
    return _pairs(expressions)


def leaves(branch: Any) -> Iterator[Any]:
    """The branches without others in them that are in a branch, or the branch itself."""
    if branch._is_group:
        for one in branch.branches:
            yield from leaves(one)
    else:
        yield branch


Filter = Callable[[str], bool]
