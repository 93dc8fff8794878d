"""Trees of several files with the same branches, which are read in one call: each array is filled from all files."""

from __future__ import annotations

from operator import index
from typing import Any

from forthwith import _forthwith
from forthwith._errors import ForthwithError
from forthwith._opening import Settings
from forthwith._stores import flat, is_foreign
from forthwith._tree.query import COMPUTED
from forthwith.uproot import _options, _reading
from forthwith.uproot._branches import HasBranches, entry_range
from forthwith.uproot._computed import Computed
from forthwith.uproot._interpretation import AsDtype
from forthwith.uproot._library import Library, NumPy, Pandas
from forthwith.uproot._options import AS_STORED, no_filter

# Arguments of `arrays` that choose the same of all files with the same branches.
_KNOWN = frozenset(("filter_name", "aliases", "how", "decompression_executor", "interpretation_executor", "language"))
# Names of the number of an entry, which counts those of one tree.
_ENTRY = "Entry$"

# The path of a file, the tree in it, and the columns that its folders say.
Parts = list[tuple[str, str, list[Any]]]


class AlikeTrees:
    """Trees of files that may have the same branches.

    Args:
        parts: Paths, and the tree in each.
        settings: How they are opened.
    """

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
        parts: Parts = []
        stores = []
        for path, inner in given:
            if not isinstance(path, str) or is_foreign(path) or not inner:
                return None
            parts.append((path, inner, []))
            stores.append(_options.store_options(path, opening))
        if any(store != stores[0] for store in stores):
            return None
        settings = Settings.of(storage_options=stores[0], **AS_STORED)
        return cls(parts, settings) if settings.opens_by_name else None

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
        if not isinstance(tree, HasBranches) or tree._tree is not tree or options.keys() - _KNOWN:
            return None
        aliases, how = options.get("aliases"), options.get("how")
        # Which lists are zipped depends on their lengths in each file.
        if how not in (None, tuple, list, dict):
            return None
        try:
            _options.check_language(options.get("language"))
            wanted, order = tree._wanted(
                expressions, cut, options.get("filter_name", no_filter), no_filter, no_filter, aliases
            )
            span = self._span(bounds)
            if span is None:
                return None
            if wanted is None:
                return self._computed(tree, order, cut, aliases, span, library, how)
            indexes = _reading.indexes(wanted)
            if not indexes or not all(_is_alike(one, library) for one in wanted):
                return None
            found = self._read(tree, [(tree.forthwith._fields[at].path, at) for at in indexes], [], None, span)
        except (ForthwithError, LookupError, TypeError, ValueError):
            return None
        if found is None:
            return None
        arrays, _ = found
        start, stop = span[0], span[0] + len(arrays[0])
        columns = _reading.named(wanted, dict(zip(indexes, arrays, strict=True)), (start, stop), library)
        return library.group(columns, order, how, stop - start, start)

    def _computed(
        self, tree: Any, names: list[str], cut: Any, aliases: Any, span: Any, library: Library, how: Any
    ) -> Any | None:
        computed = Computed(tree, names, cut, aliases, library)
        texts = [*computed.choice.aliases.values(), computed.choice.cut or "", *(text for text, _ in computed.columns)]
        if isinstance(library, NumPy) or any(_ENTRY in text for text in texts):
            return None
        # The class of the index depends on the entries that pass in each file.
        if isinstance(library, Pandas) and computed.choice.cut is not None:
            return None
        fields = [(text, None if at == COMPUTED else at) for text, at in computed.columns]
        found = self._read(tree, fields, list(computed.choice.aliases.items()), computed.choice.cut, span)
        if found is None:
            return None
        arrays, kept = found
        start, stop = span[0], span[0] + len(arrays[0])
        columns, length = computed.made(start, stop, arrays, kept)
        return library.group(columns, names, how, length, start)

    def _span(self, bounds: tuple[Any, Any]) -> tuple[int, int | None] | None:
        """The entries to read; ``None`` if not all files have some of them: the others are looked at, too."""
        start, stop = (None if bound is None else index(bound) for bound in bounds)
        if start is None and stop is None:
            return 0, None
        lengths = _forthwith.count_entries(self._parts, options=self._view, store=self._store)
        if not lengths or not all(lengths):
            return None
        first, last = entry_range(sum(lengths), start, stop)
        has_all = first < lengths[0] and last > sum(lengths[:-1])
        return (first, last) if has_all else None

    def _read(
        self,
        tree: Any,
        columns: list[tuple[str, int | None]],
        aliases: list[tuple[str, str]],
        cut: str | None,
        span: tuple[int, int | None],
    ) -> tuple[Any, Any] | None:
        """Arrays of all files, and the entries that passed the cut, if there is one; ``None`` if the files are not alike."""
        core, (start, stop) = tree.forthwith._core, span
        found = _forthwith.read_alike(
            core, columns, self._parts, aliases, cut, start, stop, options=self._view, store=self._store
        )
        return None if found is None else found[:2]


def _is_alike(one: Any, library: Library) -> bool:
    """Whether a column of all files is what those of each file are together: it depends on nothing of a file but its Form."""
    if one.interpretation is not None or not _reading.is_plain(one.branch):
        return False
    return not isinstance(library, NumPy) or isinstance(one.branch.interpretation, AsDtype)
