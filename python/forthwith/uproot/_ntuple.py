"""Ntuples (RNTuple) in uproot's words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

from forthwith import _forthwith
from forthwith._errors import KeyInFileError
from forthwith._packages import package
from forthwith._tree import read
from forthwith._tree.options import ReadOptions
from forthwith.uproot._envelopes import (
    Chunk,
    ClusterSummary,
    ColumnRecord,
    Envelopes,
    FieldRecord,
    Footer,
    Header,
    PageLink,
)
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._rfield import RField
from forthwith.uproot._tuples import form_of_tuples, with_tuples
from forthwith.uproot._virtual import virtual_field


class RNTuple(HasFields):
    """An ntuple."""

    classname = "ROOT::RNTuple"

    def __init__(self, ours: Any, file: Any) -> None:
        self._ours, self._file = ours, file
        self._made: WeakValueDictionary[tuple[str, ...], RField] = WeakValueDictionary()
        self._forms: dict[int, Any] = {}
        self._parsed: Envelopes | None = None

    @property
    def _envelopes(self) -> Envelopes:
        if self._parsed is None:
            self._parsed = Envelopes(self._ours._core)
        return self._parsed

    @property
    def header(self) -> Header:
        """What the header says."""
        return self._envelopes.header

    @property
    def footer(self) -> Footer:
        """What the footer says."""
        return self._envelopes.footer

    @property
    def field_records(self) -> list[FieldRecord]:
        """Fields of all levels, those that were added later as well."""
        return self._envelopes.field_records

    @property
    def column_records(self) -> list[ColumnRecord]:
        """Columns of all fields, those that were added later as well."""
        return self._envelopes.column_records

    @property
    def cluster_summaries(self) -> list[ClusterSummary]:
        """The entries of each cluster."""
        return self._envelopes.cluster_summaries

    @property
    def num_clusters(self) -> int:
        """The number of clusters."""
        return len(self.cluster_summaries)

    @property
    def page_link_list(self) -> list[list[PageLink]]:
        """Of each cluster the pages of each column."""
        return self._envelopes.page_link_list

    @property
    def _footer_chunk(self) -> Chunk:
        return Chunk(_forthwith.ntuple_envelopes(self._ours._core)[1])

    @property
    def members(self) -> dict[str, Any]:
        """The numbers of the format's version, as the anchor has them."""
        names = ("fVersionEpoch", "fVersionMajor", "fVersionMinor", "fVersionPatch")
        return dict(zip(names, self._envelopes.version, strict=True))

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """One of `members`.

        Raises:
            KeyInFileError: There is none, unless ``none_if_missing``.
        """
        found = self.members
        if name not in found and not none_if_missing:
            raise KeyInFileError(f"an RNTuple anchor has no member {name!r}: its members are {', '.join(found)}")
        return found.get(name)

    @property
    def _ntuple(self) -> Any:
        return self

    @property
    def forthwith(self) -> Any:
        """The table of forthwith's."""
        return self._ours

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._ours.name)

    @property
    def title(self) -> str:
        """Its description."""
        return str(self._ours.title)

    @property
    def description(self) -> str:
        """Its description."""
        return str(self._ours.descriptor()["description"])

    @property
    def object_path(self) -> str:
        """The path in the file, with the cycle."""
        return f"/{self._ours.path}"

    @property
    def cache_key(self) -> str:
        """A text that differs for other ntuples and files."""
        return f"{self._file.hex_uuid}:{self.object_path}"

    @property
    def fields(self) -> list[RField]:
        """The fields directly here."""
        tree = self._ours
        return [
            self._field((tree._fields[at].name,), at)
            for at in tree._children.get(None, ())
            if not tree._fields[at].is_part
        ]

    def _child(self, name: str) -> tuple[tuple[str, ...], int] | None:
        at = self._ours._core.found(name)
        if at is None:
            return None
        field = self._ours._fields[at]
        return ((name,), at) if field.parent is None and field.name == name and not field.is_part else None

    def _field(self, path: tuple[str, ...], top: int) -> RField:
        found = self._made.get(path)
        if found is None:
            found = self._made[path] = RField(self, path, top)
        return found

    def _form(self, top: int) -> Any:
        """The Form of a field of the ntuple, as JSON has it."""
        if top not in self._forms:
            description = self._ours._describe(top)
            self._forms[top] = None if description.form is None else form_of_tuples(json.loads(description.form))
        return self._forms[top]

    def _form_of(self, chosen: list[RField]) -> Any:
        ak = package("awkward")
        columns: dict[str, list[str]] = {}
        for field in chosen:
            columns.setdefault(field.path.split(".")[0], []).append(field.path)
        contents = {}
        for field in self.fields:
            if field.name in columns:
                form = ak.forms.from_dict(form_of_tuples(json.loads(self._ours._branch(field._top).form_json)))
                record = ak.forms.RecordForm([form], [field.name])
                wanted = columns[field.name]
                contents[field.name] = (
                    record.content(0) if field.name in wanted else record.select_columns(wanted).content(0)
                )
        return ak.forms.RecordForm(list(contents.values()), list(contents))

    def _array_of(self, chosen: list[RField], start: int, stop: int, virtual: bool, log: Any) -> Any:
        tops = _tops(chosen)
        if virtual:
            parts = {
                name: with_tuples(virtual_field(self._ours._branch(at), (start, stop), log).layout)
                for at, name in tops.items()
            }
        else:
            arrays = (
                read.read(self._ours, [(name, at) for at, name in tops.items()], start, stop, ReadOptions())
                if tops
                else []
            )
            return self._made_of(chosen, arrays, stop - start)
        return _records(parts, chosen, stop - start)

    def _tops(self, chosen: list[RField]) -> dict[int, str]:
        """The positions and names of the top-level fields that some fields are in."""
        return _tops(chosen)

    def _made_of(self, chosen: list[RField], arrays: list[Any], length: int) -> Any:
        """Fields, of arrays of the top-level fields that they are in."""
        return _records(_parts(_tops(chosen), arrays), chosen, length)

    def _steps_of(self, chosen: list[RField], start: int, stop: int, step: int) -> Iterator[tuple[int, int, Any]]:
        """The same, so many entries at a time, with the first entry of each step and the one after its last."""
        tops = _tops(chosen)
        reader = self._ours._core.batches(list(tops), start, stop, step)
        while (found := reader.read()) is not None:
            first, last, arrays, _ = found
            yield first, last, self._made_of(chosen, arrays, last - first)

    def __repr__(self) -> str:
        return f"<RNTuple {self.name!r} ({len(self)} fields) at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RNTuple, (self._ours, self._file)


def _tops(chosen: list[RField]) -> dict[int, str]:
    """The top-level fields that some are in, with their names."""
    return {field._top: field.path.split(".")[0] for field in chosen}


def _parts(tops: dict[int, str], arrays: list[Any]) -> dict[str, Any]:
    return {name: with_tuples(one.logical().layout()) for name, one in zip(tops.values(), arrays, strict=True)}


def _records(parts: dict[str, Any], chosen: list[RField], length: int) -> Any:
    """Records of top-level fields, with what was chosen of each."""
    ak = package("awkward")
    wanted: dict[str, list[str]] = {}
    for field in chosen:
        wanted.setdefault(field.path.split(".")[0], []).append(field.path)
    layouts = []
    for name, part in parts.items():
        layouts.append(
            part.layout if name in wanted[name] else _only(ak, part, [path[len(name) + 1 :] for path in wanted[name]])
        )
    return ak.Array(ak.contents.RecordArray(layouts, list(parts), length=length))


def _only(ak: Any, array: Any, paths: list[str]) -> Any:
    """The members of records at some paths, and no others."""

    def keep(layout: Any, prefix: str) -> Any:
        def action(node: Any, **_: Any) -> Any:
            if not node.is_record:
                return None
            names, contents = [], []
            for name in node.fields:
                path = f"{prefix}{name}"
                if path in paths:
                    names.append(name)
                    contents.append(node.content(name))
                elif any(one.startswith(path + ".") for one in paths):
                    names.append(name)
                    contents.append(keep(node.content(name), path + "."))
            return ak.contents.RecordArray(contents, names, length=node.length, parameters=node.parameters)

        return ak.transform(action, layout, highlevel=False, numpy_to_regular=False)

    return keep(array.layout, "")


Model_ROOT_3a3a_RNTuple = RNTuple
