"""Selections of branches and entries of a chain, and single branches of a chain."""

from __future__ import annotations

from forthwith import _filters, _show
from forthwith._packages import package
from forthwith._tree.protocols import NotAnArray, chosen_names, numpy_array, tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn, TextIO

    from forthwith._tree.chain import Chain
    from forthwith._tree.read import Names
    from forthwith._tree.tree import Tree

# Part of the error for numbers in brackets.
WHERE = "several files: `for tree in chain` has the trees"


class ChainSelection(NotAnArray):
    """A selection of branches and entries of a chain, which is read on demand as an Arrow stream."""

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
        """Returns the names of the selected branches."""
        return [str(name) for name in self._empty().schema.names]

    def __len__(self) -> int:
        """Returns the number of selected branches."""
        return len(self.keys())

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, names: str | list[str]) -> ChainSelection:
        """Returns one or several of the selected branches, with the same entries.

        Raises:
            KeyInFileError: The selection has no branch of this name.
        """
        known = self.keys()
        for name in chosen_names(names, WHERE):
            if name not in known:
                with self._chain._open(0) as tree:
                    raise _filters.absent(name, known, tree)
        return chained(self._chain, names, _only_reading(self._options), self._entries)

    @property
    def num_entries(self) -> int:
        """Number of selected entries."""
        if self._options.get("cut") is not None or self._options.get("entries") is not None:
            return len(self.arrays(library="arrow with structs"))
        start, stop, _ = slice(*self._entries).indices(self._chain.num_entries)
        return max(0, stop - start)

    def show(self, *, stream: TextIO | None = None, **widths: int | None) -> None:
        """Prints the selected branches, as in the first tree, with the column widths of `Tree.show`."""
        _show.write(f"{self!r}\n", stream)
        with self._chain._open(0) as tree:
            rows = [(name, tree[name]) for name in self.keys() if name in tree]
            _show.show(rows, _show.widths(**widths), stream)

    def _repr_html_(self) -> str:
        types = self._empty().schema
        return _show.html_table(repr(self), ("name", "type"), [(field.name, str(field.type)) for field in types])

    def arrays(self, **options: Any) -> Any:
        """Reads the selection, as `Chain.arrays` does."""
        given = {name: value for name, value in self._options.items() if name != "step_size"}
        return self._chain.arrays(self._names, **{**given, **self._bounds(), **options})

    def array(self, **options: Any) -> Any:
        """Reads the only branch, as `Branch.array` does, with its children if it has no data of its own."""
        return self.arrays(**options, how=list)[0] if len(self.keys()) == 1 else self.arrays(**options)

    def iterate(self, **options: Any) -> Iterator[Any]:
        """Reads the selection in steps, as `Chain.iterate` does."""
        return self._chain.iterate(self._names, **{**self._options, **self._bounds(), **options})

    def _bounds(self) -> dict[str, int | None]:
        return {"entry_start": self._entries[0], "entry_stop": self._entries[1]}

    def _to_be_written(self) -> Any:
        """Returns a stream for our own writers, which support unions."""
        return self._reader("arrow")

    def _empty(self, library: str = "arrow with structs") -> Any:
        return self.arrays(library=library, entry_start=0, entry_stop=0)

    def _reader(self, library: str) -> Any:
        pa = package("pyarrow")
        schema = self._empty(library).schema
        tables = self.iterate(library=library)
        batches = (batch for table in tables for batch in table.cast(schema).to_batches())
        return pa.RecordBatchReader.from_batches(schema, batches)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns an Arrow stream of record batches, each read on demand. Requires pyarrow."""
        del requested_schema
        return self._reader("arrow with structs").__arrow_c_stream__()

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow schema, for which no data are read. Requires pyarrow."""
        return self._empty().schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        names = "all branches" if self._names is None else self._names
        return f"<ChainSelection of {names} of {self._chain!r}>"


class ChainBranch(ChainSelection):
    """A branch of all trees of a chain, ``chain["x"]``, which converts to an array of its values."""

    @property
    def name(self) -> str:
        """The name of the branch, as requested."""
        return str(self._names[0])  # type: ignore[index]

    @property
    def path(self) -> str:
        """Path within the trees."""
        with self._first() as tree:
            return tree[self.name].path

    @property
    def title(self) -> str:
        """Title of the branch in the first tree that has it."""
        with self._first() as tree:
            return tree[self.name].title

    @property
    def typename(self) -> str:
        """Type of the branch, as in C++, in the first tree that has it."""
        with self._first() as tree:
            return tree[self.name].typename

    def explain(self) -> _show.Text:
        """Describes how the branch is read in the first tree that has it."""
        with self._first() as tree:
            return tree[self.name].explain()

    def _first(self) -> Tree:
        """Returns the first tree that has the branch, or the first tree if none has it."""
        for at in range(len(self._chain)):
            tree = self._chain._open(at)
            if self.name in tree:
                return tree
            tree.file.close()
        return self._chain._open(0)

    def __len__(self) -> int:
        """Returns the number of entries."""
        return self.num_entries

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self!r} is a column: .array() reads it, .iterate() some entries at a time")

    @property
    def _is_column(self) -> bool:
        return self.keys() == [self.name]

    def _refuse(self) -> NoReturn:
        if self._is_column:
            raise TypeError(f"{self!r} is no array: .array() reads it")
        super()._refuse()

    def _forms(self) -> Iterator[Any]:
        import json

        for at in range(len(self._chain)):
            with self._chain._open(at) as tree:
                if self.name in tree:
                    yield json.loads(tree[self.name].form_json)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Returns the values of all trees as a NumPy array, for types of `Branch.__array__`.

        Raises:
            TypeError: NumPy cannot represent the values without loss, or the branch has no data of its own.
        """
        if not self._is_column:
            self._refuse()
        return package("numpy").asarray(numpy_array(self, self._forms()), dtype=dtype)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Returns the values of all trees for ``pyarrow.array``, of any readable type."""
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


def chained(
    chain: Chain, names: str | list[str], options: dict[str, Any], entries: tuple[int | None, int | None]
) -> ChainSelection:
    """Returns one branch of a chain for a name, or several for a list of names."""
    made = ChainBranch if isinstance(names, str) else ChainSelection
    return made(chain, chosen_names(names, WHERE), options, entries)


def _only_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Returns the options without filters, which names replace."""
    return {name: value for name, value in options.items() if not name.startswith("filter_") and name != "exclude"}
