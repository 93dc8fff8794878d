"""Trees of several files, which are read in one call: each array is filled from all files, or from a run of files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from operator import index
from typing import Any

from forthwith import _forthwith
from forthwith._errors import ForthwithError
from forthwith._opening import Settings
from forthwith._stores import flat, is_foreign
from forthwith._tree.runs import MOST_SCHEMAS
from forthwith.uproot import _options
from forthwith.uproot._branches import entry_range
from forthwith.uproot._common_columns import Columns, columns_of
from forthwith.uproot._library import Library
from forthwith.uproot._options import AS_STORED

# The path of a file, the tree in it, and the columns that its folders say.
Parts = list[tuple[str, str, list[Any]]]


def named_parts(given: list[tuple[Any, Any]], opening: dict[str, Any]) -> tuple[Parts, Settings]:
    """Files that a name alone opens, each with the name of its tree, and how they are opened. Others have empty names.

    Args:
        given: Paths or opened trees, and the object in each.
        opening: Options of ``open``.
    """
    parts: Parts = []
    common: list[Any] = []
    for path, inner in given:
        opens = isinstance(path, str) and not is_foreign(path) and bool(inner)
        store = _options.store_options(path, opening) if opens else None
        # Files of another store are opened one by one.
        if opens and store == (common or [store])[0]:
            common = [store]
            parts.append((path, inner, []))
        else:
            parts.append(("", "", []))
    return parts, Settings.of(storage_options=common[0] if common else None, **AS_STORED)


class AlikeTrees:
    """Trees of files that may have the same branches.

    Args:
        parts: Paths, and the tree in each.
        settings: How they are opened.

    Attributes:
        is_unreadable: Whether something was found to be wrong with a file.
    """

    is_unreadable = False

    def __init__(self, parts: Parts, settings: Settings) -> None:
        self._parts, self._view = parts, settings.view
        self._store = flat(settings.options["storage_options"])

    @classmethod
    def of(cls, given: list[tuple[Any, Any]], opening: dict[str, Any]) -> AlikeTrees | None:
        """Files that a name alone opens, each with the name of its tree; ``None`` if some are others.

        Args:
            given: Paths or opened trees, and the object in each.
            opening: Options of ``open``.
        """
        if len(given) < 2 or "array_cache" in opening or "object_cache" in opening:
            return None
        parts, settings = named_parts(given, opening)
        return cls(parts, settings) if all(path for path, *_ in parts) else None

    @property
    def lengths(self) -> list[int] | None:
        """The number of entries of each tree; ``None`` if something is wrong with one of them."""
        return _forthwith.count_entries(self._parts, options=self._view, store=self._store)

    def arrays(
        self,
        tree: Any,
        expressions: Any,
        cut: str | None,
        bounds: tuple[Any, Any],
        library: Library,
        options: dict[str, Any],
    ) -> Any | None:
        """The branches of all trees as ``arrays`` of one gives them.

        ``None`` if the trees are not alike, if each has to be asked for something, or if something is wrong with one of them:
        reading them one after the other says what.

        Args:
            tree: The first tree.
            expressions: As in ``TTree.arrays``.
            cut: As in ``TTree.arrays``.
            bounds: The first entry, and the one after the last, counted in all files.
            library: What arrays become.
            options: As in ``TTree.arrays``.
        """
        try:
            columns = columns_of(tree, expressions, cut, library, options, joins=True)
            span = None if columns is None else self._span(bounds)
            found = None if columns is None or span is None else self._read(tree, columns, span)
            if found is None or columns is None or span is None:
                return None
            arrays, kept = found
            return columns.made(span[0], span[0] + len(arrays[0]), arrays, kept)
        except (ForthwithError, LookupError, TypeError, ValueError):
            return None

    def runs(
        self,
        opened: Callable[[int], Any],
        expressions: Any,
        cut: str | None,
        bounds: tuple[Any, Any],
        library: Library,
        options: dict[str, Any],
    ) -> Any | None:
        """The branches of trees of several schemas as `_many.concatenate` puts those of each tree together.

        ``None`` if the schemas have other columns, if trees have to be asked for something, or if something is wrong with one
        of them: reading them one after the other says what.

        Args:
            opened: Opens the tree of a file, by its number.
            expressions: As in ``TTree.arrays``.
            cut: As in ``TTree.arrays``.
            bounds: The first entry, and the one after the last, counted in all files.
            library: As in ``TTree.arrays``.
            options: As in ``TTree.arrays``.
        """
        trees: list[Any] = []
        columns: list[Columns] = []
        if self.is_unreadable:
            return None
        try:
            with ExitStack() as stack:

                def chooses(at: int) -> bool:
                    trees.append(stack.enter_context(closing(opened(at))))
                    found = columns_of(trees[-1], expressions, cut, library, options, joins=True)
                    columns.extend([] if found is None else [found])
                    return found is not None

                if not chooses(0):
                    return None
                same = _forthwith.same_schemas(self._parts, MOST_SCHEMAS, options=self._view, store=self._store)
                files = sorted(set(same or ()))
                if same is None or not 2 <= len(files) <= MOST_SCHEMAS or not all(map(chooses, files[1:])):
                    return None
                return self._of_schemas(trees, columns, files, [files.index(at) for at in same], bounds, library)
        except (ForthwithError, OSError, LookupError, TypeError, ValueError):
            return None

    def _of_schemas(
        self,
        trees: list[Any],
        columns: list[Columns],
        files: list[int],
        of_file: list[int],
        bounds: tuple[Any, Any],
        library: Library,
    ) -> Any | None:
        first = columns[0]
        labels = [label for label, _ in first.fields]
        request = labels, first.aliases, first.cut
        if any(([label for label, _ in one.fields], one.aliases, one.cut) != request for one in columns):
            return None
        start, stop = 0, None
        if bounds != (None, None):
            start, stop = entry_range(sum(self.lengths or ()), *bounds)
        schemas: list[tuple[_forthwith.Table, int, list[int | None], list[Any], int]] = [
            (tree.forthwith._core, at, [field for _, field in one.fields], [], 0)
            for tree, at, one in zip(trees, files, columns, strict=True)
        ]
        found = _forthwith.read_schemas(
            schemas,
            of_file,
            labels,
            self._parts,
            first.aliases,
            first.cut,
            start,
            stop,
            options=self._view,
            store=self._store,
        )
        if found is None:
            return None
        made = [
            columns[of_file[file]].made(begin, begin + len(arrays[0]), arrays, kept)
            for file, begin, arrays, kept in found[0]
        ]
        return made[0] if len(made) == 1 else library.concatenate(made)

    def _span(self, bounds: tuple[Any, Any]) -> tuple[int, int | None] | None:
        """The entries to read; ``None`` if not all files have some of them: the others are looked at, too."""
        start, stop = (None if bound is None else index(bound) for bound in bounds)
        if start is None and stop is None:
            return 0, None
        lengths = self.lengths
        if not lengths or not all(lengths):
            return None
        first, last = entry_range(sum(lengths), start, stop)
        has_all = first < lengths[0] and last > sum(lengths[:-1])
        return (first, last) if has_all else None

    def _read(self, tree: Any, columns: Columns, span: tuple[int, int | None]) -> tuple[Any, Any] | None:
        """Arrays of all files, and the entries that passed the cut, if there is one; ``None`` if the files are not alike."""
        core, (start, stop) = tree.forthwith._core, span
        found = _forthwith.read_alike(
            core,
            columns.fields,
            self._parts,
            columns.aliases,
            columns.cut,
            start,
            stop,
            options=self._view,
            store=self._store,
        )
        if isinstance(found, str):
            self.is_unreadable = found == "unreadable"
            return None
        return found[:2]
