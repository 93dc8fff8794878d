"""Columns that are read on first access, as Awkward Array's virtual arrays."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping

from forthwith._errors import DamagedFileError, RequestError
from forthwith._packages import package
from forthwith._tree.query import Query
from forthwith._tree.read import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from forthwith._tree.branch import Branch
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree


def arrays(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> Any:
    """Returns branches, each of which is read on first access.

    Raises:
        RequestError: The options depend on values, or are not for Awkward Array.
    """
    _check(tree, columns, options)
    into: Any = options.into()
    into.about(tree, columns)
    made = {
        label: into.of_layout(label, column(tree._branch(at), (start, stop), options).layout) for label, at in columns
    }
    if options.how in (tuple, list):
        return options.how(made.values())
    return made if options.how is dict else into.of_columns(made, start, stop)


def column(
    branch: Branch,
    span: tuple[int, int],
    options: ReadOptions,
    touched: Callable[[str], object] | None = None,
) -> Any:
    """Returns a branch that is read on first access; ``touched`` is called with the key of each buffer."""
    buffers = Buffers(branch, span, options, touched)
    length = span[1] - span[0]
    form = _regular(json.loads(branch.form_json))
    ak = package("awkward")
    return ak.from_buffers(ak.forms.from_dict(form), length, buffers, buffer_key="{form_key}-{attribute}")


def _regular(form: dict[str, Any]) -> dict[str, Any]:
    """Returns a Form with ``RegularArray`` for fixed dimensions, as virtual buffers have unknown lengths."""
    for part in ("content", "contents"):
        inner = form.get(part)
        if isinstance(inner, dict):
            form[part] = _regular(inner)
        elif isinstance(inner, list):
            form[part] = [_regular(one) for one in inner]
    for size in reversed(form.pop("inner_shape", None) or []):
        form = {"class": "RegularArray", "content": form, "size": size, "parameters": {}, "form_key": None}
    return form


class Buffers(Mapping[str, "Any"]):
    """The buffers of a branch, by their keys in its Form, as functions that return them.

    The first access reads all of them, in one thread; others wait for it.
    """

    def __init__(
        self,
        branch: Branch,
        span: tuple[int, int],
        options: ReadOptions,
        touched: Callable[[str], object] | None = None,
    ) -> None:
        self._branch, self._span, self._options, self._touched = branch, span, options, touched
        self._form = branch.form_json
        self._held: dict[str, Any] | None = None
        self._lock = threading.Lock()

    def __getitem__(self, key: str) -> Any:
        def buffer() -> Any:
            if self._touched is not None:
                self._touched(key)
            return self._read()[key]

        return buffer

    def _read(self) -> dict[str, Any]:
        with self._lock:
            if self._held is None:
                self._held = self._from_file()
            return self._held

    def _from_file(self) -> dict[str, Any]:
        np = package("numpy")
        tree, index = self._branch.tree, self._branch._index
        closed = tree.file.closed
        if closed:
            tree = self._opened_again(tree, index)
        try:
            (array,) = read(tree, [("", index)], *self._span, self._options)
            return {key: np.asarray(buffer) for key, buffer in array.logical().buffers()}
        finally:
            if closed:
                tree.file.close()

    def _opened_again(self, tree: Tree, index: int) -> Tree:
        """Opens a closed file again and returns its tree.

        Raises:
            DamagedFileError: The file was replaced.
        """
        file, path = tree.file, self._branch.path
        again = file._opened_again()
        try:
            same = again._core.identity == file._core.identity and again.size == file.size
            found = again._tree_of(tree.path) if same else tree
            same = same and index < len(found._fields) and found._fields[index].path == path
            if same and found._branch(index).form_json == self._form:
                return found
        except BaseException:
            again.close()
            raise
        again.close()
        raise DamagedFileError(
            f"{file.file_path} was replaced by another file since the virtual array of {path!r} was made",
            file=file.file_path,
            object=f"{tree.path}/{path}",
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def _check(tree: Tree, columns: Columns, options: ReadOptions) -> None:
    """Raises an error for options that depend on values."""
    problem = None
    if options.library not in ("ak", "awkward"):
        problem = f"is Awkward Array's, and not for library={options.library!r}"
    elif options.how == "zip":
        problem = "does not go with how='zip', which compares the lengths of lists"
    elif options.errors != "raise" or options.lost is not None:
        problem = "does not go with errors= and lost=: damage is met when a column is touched"
    elif not options.logical:
        problem = "does not go with logical=False"
    elif isinstance(columns, Query):
        problem = "reads branches as they are, without cut=, aliases=, entries=, friends and expressions"
    if problem is not None:
        raise RequestError(f"virtual=True {problem}", file=tree.file.file_path, object=tree.path)
