"""Reading of a chain in one call: files of one schema, or runs of files with the same types."""

from __future__ import annotations

from contextlib import ExitStack

from forthwith import _forthwith
from forthwith._errors import ForthwithError
from forthwith._stores import flat
from forthwith._tree import alike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._interop.base import Library
    from forthwith._tree.alike import Parts
    from forthwith._tree.chain import Chain
    from forthwith._tree.common import Common
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns

# Each schema keeps a file open.
MOST_SCHEMAS = 32


def arrays(
    chain: Chain, common: Common, read: ReadOptions, into: Library, start: int | None, stop: int | None
) -> Any | None:
    """Reads the columns of all files in one call, with one result per run of files of equal types.

    Returns ``None`` for requests other than columns and a filter, if the files cannot be concatenated so, or
    if a file cannot be read; reading the files one after the other then raises the error.

    Args:
        chain: The files.
        common: The columns.
        read: The options of the read.
        into: The converter.
        start: The first entry, counted over all files.
        stop: The entry after the last.
    """
    if read.progress is not None or read.errors != "raise" or not common.is_plain or len(chain) < 2:
        return None
    if any(bound is not None and bound < 0 for bound in (start, stop)):
        return None
    parts = chain._parts_by_name() if common.chooses_by_schema else None
    if parts is None:
        return None
    whole = _WholeFiles(chain, parts, common, read, into, (start or 0, stop))
    found = None if common.has_united else whole.of_one_schema()
    return whole.of_schemas() if found is None and whole.may_differ else found


class _WholeFiles:
    """The files of a chain, whose columns are read in one call.

    Attributes:
        may_differ: Whether to try reading by several schemas if one does not suffice.
    """

    def __init__(
        self,
        chain: Chain,
        parts: Parts,
        common: Common,
        read: ReadOptions,
        into: Library,
        bounds: tuple[int, int | None],
    ) -> None:
        self._chain = chain
        self._parts = parts
        self._common = common
        self._into = into
        self._bounds = bounds
        # Comparing schemas opens all files.
        self.may_differ = common.same_schemas is not None or bounds == (0, None)
        self._opening: dict[str, Any] = {
            "options": chain._settings.view,
            "store": flat(chain._settings.options["storage_options"]),
        }
        self._how: dict[str, Any] = {"bits": into.takes_bits, "threads": read.threads, **self._opening}

    def of_one_schema(self) -> Any | None:
        """Reads the columns of files with the same fields in the same types."""
        with self._chain._open(0) as tree:
            if not (columns := alike.columns_of(self._common, tree)):
                self.may_differ = False
                return None
            self._into.about(tree, columns)
            if self._into.depends_on_file:
                self.may_differ = False
                return None
            (fields, _), choice = alike.request(columns), alike.choice_of(columns)
            found = _forthwith.read_alike(tree._core, fields, self._parts, *choice, *self._bounds, **self._how)
            if isinstance(found, str):
                # Reading the damaged file on its own raises its error.
                self.may_differ = self.may_differ and found == "types"
                return None
            arrays, kept, lengths = found
            self._chain._know_lengths(lengths)
            begin = min(self._bounds[0], sum(length or 0 for length in self._chain._lengths))
            return self._made(columns, begin, arrays, kept)

    def of_schemas(self) -> Any | None:
        """Reads the columns of files of several schemas, and converts them to common types of the library."""
        same = self._common.same_schemas or _forthwith.same_schemas(self._parts, MOST_SCHEMAS, **self._opening)
        files = sorted(set(same or ()))
        if same is None or not 2 <= len(files) <= MOST_SCHEMAS:
            return None
        try:
            return self._of_schemas(same, files)
        except ForthwithError:
            return None

    def _of_schemas(self, same: list[int], files: list[int]) -> Any | None:
        common = self._common.anew()
        with ExitStack() as stack:
            trees = [stack.enter_context(self._chain._open(at)) for at in files]
            columns = [common.of(tree, 0) for tree in trees]
            labels = [label for label, _ in columns[0]]
            if not labels or any([label for label, _ in one] != labels for one in columns):
                return None
            schemas = []
            # Arrow schema and metadata determine the conversion, so they are equal within a run.
            kept: list[Any] = []
            for tree, at, one in zip(trees, files, columns, strict=True):
                self._into.about(tree, one)
                if self._into.depends_on_file:
                    return None
                group = next((group for group, other in enumerate(kept) if self._into.is_like(other)), len(kept))
                if group == len(kept):
                    kept.append(self._into.kept)
                fields, united = alike.request(one)
                schemas.append((tree._core, at, [field for _, field in fields], united, group))
            of_file = [files.index(at) for at in same]
            choice = alike.choice_of(columns[0])
            found = _forthwith.read_schemas(schemas, of_file, labels, self._parts, *choice, *self._bounds, **self._how)
            if found is None:
                return None
            runs, lengths = found
            made = []
            for file, begin, arrays, chosen in runs:
                at = of_file[file]
                self._into.about(trees[at], columns[at])
                made.append(self._made(columns[at], begin, arrays, chosen))
            self._chain._know_lengths(lengths)
            return self._into.join(made)

    def _made(self, columns: Columns, begin: int, arrays: list[_forthwith.Array], kept: Any) -> Any:
        labels = [label for label, _ in columns]
        if kept is not None:
            return self._into.chosen(labels, arrays, kept, 0)
        return self._into.together(labels, arrays, begin, begin + len(arrays[0]))
