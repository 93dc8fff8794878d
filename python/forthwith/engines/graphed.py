"""Files as a source of graphed. Needs ``graphed`` and ``awkward``."""

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
    """A deferred array of records, of which graphed reads the columns that are used, partition by partition.

    The first file is opened for the types, the others when they are read.

    Args:
        session: The ``graphed.Session``, with the backend for Awkward Array.
        name: The name of the source in the session.
        files: As in `forthwith.engines.plan`.
        columns: As in `forthwith.engines.plan`.
        threads: Threads of a task.
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
    """What graphed asks for partitions: of each file a partition that has all of it, and the types of the columns."""

    whole: tuple[Partition, ...]
    known: tuple[str, dict[str, str]]
    threads: int | None

    def __call__(self) -> Any:
        """All entries."""
        return package("awkward").concatenate([self._read(one, self.known[1]) for one in self.whole])

    def partitions(self, steps_per_file: int = 1) -> tuple[Any, ...]:
        """Partitions of graphed's, for which no file is opened."""
        blind: Any = import_module("graphed.core").Partition.blind
        steps = range(steps_per_file)
        return tuple(blind(one.file, one.tree or "", step, steps_per_file) for one in self.whole for step in steps)

    def read_partition(self, partition: Any, columns: Sequence[str] | None, resources: Any) -> Any:
        """The columns of a partition of graphed's; parts of records are read with the whole of them."""
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
    """The column that has a field, as ``Muon`` has ``Muon.pt``."""
    while name not in names and "." in name:
        name = name.rpartition(".")[0]
    return name
