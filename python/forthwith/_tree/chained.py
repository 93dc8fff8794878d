"""Some branches and entries of several files, for whatever takes Arrow data."""

from __future__ import annotations

from forthwith._packages import package
from forthwith._tree.protocols import NotAnArray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith._tree.chain import Chain
    from forthwith._tree.read import Names


class ChainSelection(NotAnArray):
    """Some branches and entries of a chain, not read yet: a table for whatever takes Arrow data."""

    def __init__(
        self, chain: Chain, names: Names, options: dict[str, Any], entries: tuple[int | None, int | None]
    ) -> None:
        self._chain = chain
        self._names = names
        self._options = options
        self._entries = entries

    @property
    def chain(self) -> Chain:
        """The chain."""
        return self._chain

    def keys(self) -> list[str]:
        """The names of the branches selected."""
        return [str(name) for name in self._empty().schema.names]

    def __len__(self) -> int:
        """The number of branches selected."""
        return len(self.keys())

    def arrays(self, **options: Any) -> Any:
        """Reads all of it, as `Chain.arrays` does."""
        given = {name: value for name, value in self._options.items() if name != "step_size"}
        return self._chain.arrays(self._names, **{**given, **self._bounds(), **options})

    def array(self, **options: Any) -> Any:
        """Reads the branch, if it is one, as `Branch.array` does."""
        columns = self.arrays(**options, how=list)
        return columns[0] if len(columns) == 1 else self.arrays(**options)

    def iterate(self, **options: Any) -> Iterator[Any]:
        """Reads it some entries at a time, as `Chain.iterate` does."""
        return self._chain.iterate(self._names, **{**self._options, **self._bounds(), **options})

    def _bounds(self) -> dict[str, int | None]:
        return {"entry_start": self._entries[0], "entry_stop": self._entries[1]}

    def _empty(self) -> Any:
        return self.arrays(library="arrow", entry_start=0, entry_stop=0)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of record batches, each read when it is pulled. Needs pyarrow."""
        del requested_schema
        pa = package("pyarrow")
        schema = self._empty().schema
        tables = self.iterate(library="arrow")
        batches = (batch for table in tables for batch in table.cast(schema).to_batches())
        return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()

    def __arrow_c_schema__(self) -> object:
        """The Arrow types, for which no data are read. Needs pyarrow."""
        return self._empty().schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        names = "all branches" if self._names is None else self._names
        return f"<ChainSelection of {names} of {self._chain!r}>"
