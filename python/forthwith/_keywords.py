"""Suggestions for unknown keyword arguments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_THREADS = "reading has threads of its own: threads= says how many"
_NO_CACHE = "arrays are not cached; they are yours to keep"
# Arguments with another name here, if the call has one of these names.
RENAMED = {
    "expressions": ("names",),
    "entrystart": ("entry_start",),
    "entrystop": ("entry_stop",),
    "columns": ("names",),
    "branches": ("names", "columns"),
    "nthreads": ("threads",),
}
INSTEAD = {
    "language": "expressions are Python's, with the usual spellings of TTreeFormula",
    "columns": "columns are chosen when they are read: names= of arrays()",
    "branches": "branches are chosen when they are read: names= of arrays()",
    "entry_range": "entry_start= and entry_stop= are the entries to read",
    "interpretation": "what a branch is read as follows from the file, and Branch.interpretation says it",
    "array_cache": _NO_CACHE,
    "object_cache": _NO_CACHE,
    "decompression_executor": _THREADS,
    "interpretation_executor": _THREADS,
    "num_workers": _THREADS,
    "use_threads": _THREADS,
    "handler": "a file object, such as one of fsspec, can be opened in place of a path",
    "allow_missing": "missing='null' reads files that lack columns; files that do not exist are an error",
    "ak_add_doc": "titles are in Branch.title",
    "virtual": "arrays() of a tree or branch has it; elsewhere only branches that are named are read",
    "cut": "entries that pass a cut are chosen by arrays, iterate and select, and in files by the command forthwith cp --where",
    "missing": "it is an argument of what reads several files: forthwith.open, Chain, concatenate and iterate",
}

# Options of reads that chains and selections pass on: fields of `ReadOptions`.
READ = ("library", "how", "errors", "lost", "threads", "progress", "logical")

# Options of reads and `iterate` that rows do not have.
NOT_OF_ROWS = frozenset(("library", "how", "logical", "report"))


def refuse(call: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raises a ``TypeError`` for the first unknown argument, if any."""
    known = list(known)
    for name in unknown:
        renamed = [other for other in RENAMED.get(name, ()) if other in known]
        instead = f"it is {renamed[0]}=" if renamed else INSTEAD.get(name)
        if instead is None:
            from difflib import get_close_matches  # not at the top: nothing else needs it

            near = get_close_matches(name, known, 2)
            instead = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(known))}"
        raise TypeError(f"{call}() has no argument {name!r}: {instead}")


def one_codec(codec: str | None, compression: str | None) -> str | None:
    """Returns the codec given by either of its two argument names."""
    if codec is not None and compression is not None and codec != compression:
        raise TypeError(f"codec={codec!r} and compression={compression!r} are the same argument")
    return compression if codec is None else codec
