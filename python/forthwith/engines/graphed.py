"""Files as a source of graphed. Requires ``graphed`` and ``awkward``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._partition import Partition
from forthwith.engines._plan import plan
from forthwith.engines._read import read, tree_of
from forthwith.engines._types import check_same, none_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


def source(session: Any, name: str, files: Any, columns: Any = None, *, threads: int | None = 1, **options: Any) -> Any:
    """Returns a deferred array of records, of which graphed reads the used columns by partition.

    The first file is opened for the types of the columns, and the others when they are read.

    Args:
        session: The ``graphed.Session``, with the backend for Awkward Array.
        name: The name of the source in the session.
        files: As in `forthwith.engines.plan`.
        columns: As in `forthwith.engines.plan`.
        threads: Number of threads of a task.
        options: As in ``open``.
    """
    package("graphed")
    awkward: Any = import_module("graphed.awkward")
    whole = plan(files, columns, parts=1, **options)
    form = none_of(whole[0], "ak").layout.form
    empty = form.length_zero_array(highlevel=False).to_typetracer(forget_length=True)
    data = Files(tuple(whole), (whole[0].file, _kinds(form)), threads)
    uri = ";".join(f"{one.file}:{one.tree}" if one.tree else one.file for one in whole)
    return session.source(
        name, form=awkward.AwkwardForm(package("awkward").Array(empty)), data=data, uri=uri, format=__name__
    )


@dataclass(frozen=True)
class Files:
    """The partitions of a graphed source: one for each whole file, and the types of the columns."""

    whole: tuple[Partition, ...]
    known: tuple[str, dict[str, str]]
    threads: int | None

    def __call__(self) -> Any:
        """Reads all entries."""
        return package("awkward").concatenate([self._read(one, self.known[1]) for one in self.whole])

    def partitions(self, steps_per_file: int = 1) -> tuple[Any, ...]:
        """Returns partitions for graphed, without opening files."""
        blind: Any = import_module("graphed.core").Partition.blind
        steps = range(steps_per_file)
        return tuple(blind(one.file, one.tree or "", step, steps_per_file) for one in self.whole for step in steps)

    def read_partition(self, partition: Any, columns: Sequence[str] | None, resources: Any) -> Any:
        """Reads columns of a graphed partition; fields of records are read with the whole column."""
        del resources
        like = next((one for one in self.whole if (one.file, one.tree or "") == (partition.uri, partition.tree)), None)
        if like is None:
            raise RequestError(f"partition {partition.uri}:{partition.tree} is not part of this source")
        place = partition.resolve(tree_of(like).num_entries)
        names = self.known[1]
        wanted = names if columns is None else {_column(name, names) for name in columns}
        return self._read(replace(like, start=place.entry_start, stop=place.entry_stop), wanted)

    def _read(self, partition: Partition, names: Iterable[str]) -> Any:
        kinds = {name: kind for name, kind in self.known[1].items() if name in names}
        array = read(partition, list(kinds), threads=self.threads)
        check_same((self.known[0], kinds), partition.file, _kinds(array.layout.form))
        return array


def _kinds(form: Any) -> dict[str, str]:
    return {name: str(content.type) for name, content in zip(form.fields, form.contents, strict=True)}


def _column(name: str, names: Iterable[str]) -> str:
    """Returns the column that contains a field, such as ``Muon`` for ``Muon.pt``."""
    while name not in names and "." in name:
        name = name.rpartition(".")[0]
    return name
