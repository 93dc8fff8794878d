"""Ntuples (RNTuple) and their fields in uproot's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakValueDictionary

from forthwith import _forthwith
from forthwith._entries import memory_size as memory_size_of
from forthwith._errors import KeyInFileError
from forthwith._packages import package
from forthwith._tree import read
from forthwith._tree.options import ReadOptions
from forthwith.uproot import _cxx
from forthwith.uproot._branches import Report, entry_range, filter_of
from forthwith.uproot._computed import computed
from forthwith.uproot._const import RNTupleFieldRole
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
from forthwith.uproot._library import Awkward, NumPy, library_of
from forthwith.uproot._options import no_filter, python_language
from forthwith.uproot._reading import documented
from forthwith.uproot._show import _line
from forthwith.uproot._tuples import form_of_tuples, with_tuples
from forthwith.uproot._virtual import check_alone, virtual_field
from forthwith.uproot._wanted import names_of


class HasFields(Mapping[str, Any]):
    """A mapping from names to fields, which reads them."""

    _ntuple: Any
    _file: Any

    @property
    def fields(self) -> list[RField]:
        """The fields directly here."""
        raise NotImplementedError

    @property
    def ntuple(self) -> Any:
        """The ntuple."""
        return self._ntuple

    @property
    def file(self) -> Any:
        """The file."""
        return self._file

    @property
    def name(self) -> str:
        """Its name."""
        raise NotImplementedError

    @property
    def path(self) -> str:
        """The path within the ntuple, joined by dots."""
        return ""

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        return int(self._ntuple.forthwith.num_entries)

    def _members(self, recursive: bool) -> Iterator[tuple[str, RField]]:
        for field in self.fields:
            yield field.name, field
            if recursive:
                for name, inner in field._members(True):
                    yield f"{field.name}.{name}", inner

    def iteritems(
        self,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_field: Any = no_filter,
        filter_branch: Any = no_filter,
        recursive: Any = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, Any]]:
        """Names and fields that pass the filters.

        Args:
            filter_name: A name, a glob, ``"/regex/flags"``, a function, or several of these.
            filter_typename: The same, of type names.
            filter_field: A function of a field.
            filter_branch: The same; trees call it so.
            recursive: Whether fields in fields are meant, too.
            full_paths: Whether these are named by their path.
            ignore_duplicates: Whether names come once only.
        """
        by_name, by_type = filter_of(filter_name, "filter_name"), filter_of(filter_typename, "filter_typename")
        seen = set()
        for path, field in self._members(bool(recursive)):
            name = path if full_paths else field.name
            if by_name and not (by_name(field.name) or by_name(path) or by_name(path.replace(".", "/"))):
                continue
            if by_type and not by_type(field.typename):
                continue
            if any(one not in (None, no_filter) and not one(field) for one in (filter_field, filter_branch)):
                continue
            if ignore_duplicates and name in seen:
                continue
            seen.add(name)
            yield name, field

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Names of the fields that pass. The arguments are those of `iteritems`."""
        return (name for name, _ in self.iteritems(**filters))

    def itervalues(self, **filters: Any) -> Iterator[Any]:
        """Fields that pass. The arguments are those of `iteritems`."""
        return (field for _, field in self.iteritems(**filters))

    def itertypenames(self, **filters: Any) -> Iterator[tuple[str, str]]:
        """Names and type names of the fields that pass. The arguments are those of `iteritems`."""
        return ((name, field.typename) for name, field in self.iteritems(**filters))

    def keys(self, **filters: Any) -> list[str]:  # type: ignore[override]
        """Names of the fields that pass. The arguments are those of `iteritems`."""
        return list(self.iterkeys(**filters))

    def values(self, **filters: Any) -> list[Any]:  # type: ignore[override]
        """Fields that pass. The arguments are those of `iteritems`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Names and fields that pass. The arguments are those of `iteritems`."""
        return list(self.iteritems(**filters))

    def typenames(self, **filters: Any) -> dict[str, str]:
        """Type names by name. The arguments are those of `iteritems`."""
        return dict(self.itertypenames(**filters))

    def __iter__(self) -> Iterator[str]:
        return self.iterkeys()

    def __len__(self) -> int:
        return len(self.fields)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __getitem__(self, where: Any) -> Any:
        """The field of a name or of a path, whose parts ``.``, ``/`` or a backslash separate."""
        if hasattr(where, "__index__"):
            return self.fields[where]
        wanted = where.strip("/").replace("\\", ".").replace("/", ".")
        called = []
        for path, field in self._members(True):
            if path == wanted:
                return field
            if field.name == wanted:
                called.append(field)
        if called:
            return called[0]
        from difflib import get_close_matches

        near = get_close_matches(wanted, self.keys())
        error = KeyInFileError(
            f"no field {where!r}"
            + (f"; did you mean {', '.join(near)}?" if near else "")
            + f"\n  in {self._file.file_path}:{self._ntuple.forthwith.path}",
            file=self._file.file_path,
            object=self._ntuple.forthwith.path,
        )
        error.key, error.near = str(where), near
        raise error

    def show(
        self,
        *,
        name_width: int = 20,
        typename_width: int = 24,
        path_width: int = 30,
        stream: Any = None,
        **filters: Any,
    ) -> None:
        """Prints the fields: names, types, paths. The filters are those of `iteritems`."""
        import sys

        widths = name_width, typename_width, path_width
        lines = [_line(("name", "typename", "path"), widths), "-+-".join("-" * width for width in widths)]
        lines += [_line((field.name, field.typename, name), widths) for name, field in self.iteritems(**filters)]
        (sys.stdout if stream is None else stream).write("\n".join(lines) + "\n")

    def _some(self, filter_name: Any, filter_typename: Any, filter_field: Any) -> tuple[Any, Any]:
        """The Form of the fields that pass, and the top-level fields that it takes."""
        raise NotImplementedError

    def to_akform(
        self,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_field: Any = no_filter,
        filter_columns: Any = None,
    ) -> tuple[Any, Any]:
        """The Awkward Form of fields, and the path to what `array` takes out of it; ``None`` for an ntuple.

        Args:
            filter_name: As in `iteritems`.
            filter_typename: As in `iteritems`.
            filter_field: As in `iteritems`.
            filter_columns: The same as ``filter_name``.
        """
        if filter_columns is not None:
            filter_name = filter_columns
        chosen = self._chosen(filter_name, filter_typename, filter_field)
        return self._ntuple._form_of(chosen), (self.path.split(".") if self.path else None)

    def _chosen(self, filter_name: Any, filter_typename: Any, filter_field: Any) -> list[RField]:
        """The fields that pass, without those that are in one that passes."""
        filters = [filter_name, filter_typename, filter_field]
        if all(one is no_filter or one is None for one in filters):
            return [self] if isinstance(self, RField) else self.fields
        found = self.values(filter_name=filter_name, filter_typename=filter_typename, filter_field=filter_field)
        below = {id(inner) for field in found for _, inner in field._members(True)}
        # A field that passes stands for all that is in it, unless only some of that passes by itself.
        return [field for field in found if id(field) not in below]

    def arrays(
        self,
        expressions: Any = None,
        cut: Any = None,
        *,
        filter_name: Any = no_filter,
        filter_typename: Any = no_filter,
        filter_field: Any = no_filter,
        filter_branch: Any = no_filter,
        aliases: Any = None,
        language: Any = python_language,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        decompression_executor: Any = None,
        interpretation_executor: Any = None,
        library: Any = "ak",
        array_cache: Any = None,
        ak_add_doc: Any = False,
        how: Any = None,
        virtual: bool = False,
        access_log: Any = None,
        backend: str = "cpu",
        interpreter: str = "cpu",
    ) -> Any:
        """Reads several fields.

        Args:
            expressions: Names of fields, or expressions.
            cut: An expression; entries for which it is false are left out.
            filter_name: As in `iteritems`.
            filter_typename: As in `iteritems`.
            filter_field: As in `iteritems`.
            filter_branch: As in `iteritems`.
            aliases: Names for expressions.
            language: Accepted without effect.
            entry_start: The first entry.
            entry_stop: The entry after the last.
            decompression_executor: Accepted without effect.
            interpretation_executor: Accepted without effect.
            library: ``"ak"``, ``"np"`` or ``"pd"``.
            array_cache: Accepted without effect.
            ak_add_doc: Whether arrays carry the descriptions of fields.
            how: ``tuple``, ``list``, ``dict``, or with Awkward Array ``"zip"``.
            virtual: Whether columns are read when they are first touched.
            access_log: A list that gets a record of each of these readings.
            backend: ``"cpu"``; there is no other here.
            interpreter: ``"cpu"``; there is no other here.
        """
        if backend != "cpu" or interpreter != "cpu":
            raise NotImplementedError(
                f"backend={backend!r}, interpreter={interpreter!r}: forthwith reads with processors only"
            )
        library = library_of(library)
        if virtual:
            check_alone(library, how=how, expressions=expressions, cut=cut, aliases=aliases)
        elif access_log is not None:
            raise ValueError("'access_log' cannot be used with 'virtual=False'")
        start, stop = entry_range(self.num_entries, entry_start, entry_stop)
        filter_field = filter_branch if filter_field is no_filter else filter_field
        if cut is not None or aliases:
            return self._computed(expressions, cut, aliases, (start, stop), library, how)
        if expressions is None:
            chosen = self._chosen(filter_name, filter_typename, filter_field)
        else:
            try:
                chosen = [self[name] for name in ([expressions] if isinstance(expressions, str) else list(expressions))]
            except KeyInFileError as error:
                if str(error.key).isidentifier():
                    raise
                return self._computed(expressions, cut, aliases, (start, stop), library, how)
        array = self._ntuple._array_of(chosen, start, stop, virtual, access_log)
        if ak_add_doc and isinstance(library, Awkward):
            array = self._documented(array, ak_add_doc)
        if isinstance(library, Awkward) and how is None:
            return array
        columns = {}
        for label in array.fields:
            columns[label] = library.of_awkward(array[label], label, start)
            if isinstance(library, NumPy) and columns[label].dtype == object:
                columns[label] = _numpy_objects(array[label], columns[label])
        return library.group(columns, list(array.fields), how, stop - start, start)

    def _documented(self, array: Any, wish: Any) -> Any:
        """An array with the descriptions of the ntuple and of its fields, or with other parameters of theirs."""
        ak = package("awkward")
        top = array.layout
        contents = [
            ak.to_layout(documented(column, self[name], wish))
            for name, column in ((name, ak.Array(top.content(name))) for name in top.fields)
        ]
        parameters = None if isinstance(wish, dict) else {"__doc__": self._ntuple.description}
        return ak.Array(ak.contents.RecordArray(contents, top.fields, length=top.length, parameters=parameters))

    def _computed(self, expressions: Any, cut: Any, aliases: Any, span: tuple[int, int], library: Any, how: Any) -> Any:
        names = [field.name for field in self.fields] if expressions is None else names_of(expressions)
        columns, length = computed(self._ntuple, names, cut, aliases, span, library)
        return library.group(columns, names, how, length, span[0])

    def iterate(
        self,
        expressions: Any = None,
        cut: Any = None,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        step_size: int | str = "100 MB",
        report: bool = False,
        library: Any = "ak",
        **options: Any,
    ) -> Iterator[Any]:
        """Reads several fields, some entries at a time.

        Args:
            expressions: As in `arrays`.
            cut: As in `arrays`.
            entry_start: The first entry.
            entry_stop: The entry after the last.
            step_size: Entries in a step, or text such as ``"100 MB"``, about how much decompressed data.
            report: Whether each step comes with a report of its place.
            library: As in `arrays`.
            options: As in `arrays`.
        """
        start, stop = entry_range(self.num_entries, entry_start, entry_stop)
        step = step_size if isinstance(step_size, int) else self._entries_in(step_size)
        if step < 1:
            raise ValueError(f"step_size must be at least 1, not {step}")
        for first in range(start, stop, step):
            last = min(first + step, stop)
            found = self.arrays(expressions, cut, entry_start=first, entry_stop=last, library=library, **options)
            yield (found, Report(self, first, last)) if report else found

    @property
    def tree(self) -> Any:
        """The ntuple, where trees and ntuples are asked alike."""
        return self._ntuple

    def _entries_in(self, memory_size: int | str) -> int:
        size = memory_size_of(memory_size, "memory_size")
        tops = {field._top for field in ([self] if isinstance(self, RField) else self.fields)}
        stored = sum(self._ntuple.forthwith._describe(at).payload_bytes for at in tops)
        return max(1, round(size * max(1, self.num_entries) / stored)) if stored else max(1, self.num_entries)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


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

    def member(self, name: str) -> Any:
        """One of `members`."""
        return self.members[name]

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
    def file_path(self) -> str:
        """The path of the file."""
        return str(self._file.file_path)

    @property
    def fields(self) -> list[RField]:
        """The fields directly here."""
        tree = self._ours
        return [
            self._field((tree._fields[at].name,), at)
            for at in tree._children.get(None, ())
            if not tree._fields[at].is_part
        ]

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
        ak = package("awkward")
        tops = {field._top: field.path.split(".")[0] for field in chosen}
        wanted: dict[str, list[str]] = {}
        for field in chosen:
            wanted.setdefault(field.path.split(".")[0], []).append(field.path)
        if virtual:
            parts = {name: virtual_field(self._ours._branch(at), (start, stop), log) for at, name in tops.items()}
        else:
            arrays = (
                read.read(self._ours, [(name, at) for at, name in tops.items()], start, stop, ReadOptions())
                if tops
                else []
            )
            parts = {name: with_tuples(one.logical().layout()) for name, one in zip(tops.values(), arrays, strict=True)}
        layouts = []
        for name, part in parts.items():
            layouts.append(
                part.layout
                if name in wanted[name]
                else _only(ak, part, [path[len(name) + 1 :] for path in wanted[name]])
            )
        return ak.Array(ak.contents.RecordArray(layouts, list(parts), length=stop - start))

    def __repr__(self) -> str:
        return f"<RNTuple {self.name!r} ({len(self)} fields) at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RNTuple, (self._ours, self._file)


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


def _numpy_objects(array: Any, made: Any) -> Any:
    """Objects of NumPy: arrays of numbers where entries are lists of these, otherwise what Python has."""
    np, ak = package("numpy"), package("awkward")
    out = np.empty(len(array), dtype=object)
    for at, one in enumerate(array):
        try:
            out[at] = np.asarray(one) if isinstance(one, ak.Array) and one.ndim == 1 and not one.fields else plain(one)
        except (TypeError, ValueError):
            out[at] = plain(one)
    return out


def plain(one: Any) -> Any:
    """A value as Python has it."""
    return one.tolist() if hasattr(one, "tolist") else one


class RField(HasFields):
    """A field of an ntuple."""

    def __init__(self, ntuple: RNTuple, path: tuple[str, ...], top: int) -> None:
        self._ntuple, self._names, self._top = ntuple, path, top
        self._file = ntuple._file

    @property
    def forthwith(self) -> Any:
        """The field of forthwith's that this is, or is in."""
        return self._ntuple.forthwith._branch(self._top)

    @property
    def _index(self) -> int:
        return self._top

    @property
    def _is_column(self) -> bool:
        return self.top_level

    _has_leaves = False

    @property
    def name(self) -> str:
        """Its name."""
        return self._names[-1]

    @property
    def path(self) -> str:
        """The path within the ntuple, joined by dots."""
        return ".".join(self._names)

    @property
    def object_path(self) -> str:
        """The path in the file."""
        return f"{self._ntuple.object_path}:{self.path}"

    @property
    def parent(self) -> Any:
        """The field this is in, or the ntuple."""
        return self._ntuple if len(self._names) == 1 else self._ntuple._field(self._names[:-1], self._top)

    @property
    def top_level(self) -> bool:
        """Whether it is in the ntuple itself."""
        return len(self._names) == 1

    @property
    def title(self) -> str:
        """Its description."""
        return str(self._ntuple.forthwith._fields[self._top].title) if self.top_level else ""

    @property
    def description(self) -> str:
        """Its description."""
        return self.title

    def _node(self) -> Any:
        """The Form of this field, without the lists around it."""
        form = _record_in(self._ntuple._form(self._top))
        for name in self._names[1:]:
            if form is None:
                return None
            inside = dict(zip(_names_in(form), form["contents"], strict=True))[name]
            form = _record_in(inside)
        return form

    @property
    def fields(self) -> list[RField]:
        """The fields directly here."""
        form = self._node()
        if form is None or form["class"] != "RecordArray":
            return []
        return [self._ntuple._field((*self._names, name), self._top) for name in _names_in(form)]

    @property
    def typename(self) -> str:
        """The type in C++."""
        tree = self._ntuple.forthwith
        if self.top_level:
            return str(tree._describe(self._top).typename)
        try:
            return str(tree._describe(tree._core.find("/".join(self._names))).typename)
        except KeyInFileError:
            pass
        _, arguments = _cxx.split(_innermost(self.parent.typename))
        if self.name.isdigit() and int(self.name) < len(arguments):
            return arguments[int(self.name)]
        return _typename(self._form_here())

    def _form_here(self) -> Any:
        form = _record_in(self._ntuple._form(self._top))
        inside = form
        for name in self._names[1:]:
            inside = dict(zip(_names_in(form), form["contents"], strict=True))[name]
            form = _record_in(inside)
        return inside

    @property
    def record(self) -> Any:
        """The role of the field in the structure."""
        return _Record(self)

    @property
    def interpretation(self) -> Any:
        """The field itself, which knows its Form."""
        return self

    def awkward_form(self, file: Any = None, **options: Any) -> Any:
        """The Awkward Form."""
        return self.array(entry_stop=0).layout.form

    def array(
        self,
        interpretation: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: Any = "ak",
        virtual: bool = False,
        access_log: Any = None,
        **options: Any,
    ) -> Any:
        """Reads the field.

        Args:
            interpretation: Accepted without effect: ntuples have types.
            entry_start: The first entry.
            entry_stop: The entry after the last.
            library: ``"ak"``, ``"np"`` or ``"pd"``.
            virtual: Whether it is read when it is first touched.
            access_log: A list that gets a record of that.
            options: Accepted without effect.
        """
        library = library_of(library)
        start, stop = entry_range(self.num_entries, entry_start, entry_stop)
        array = self._ntuple._array_of([self], start, stop, virtual, access_log)
        for name in self._names:
            array = array[name]
        found = library.of_awkward(array, self.name, start)
        return _numpy_objects(array, found) if isinstance(library, NumPy) and found.dtype == object else found

    def __array__(self, *args: Any, **options: Any) -> Any:
        return self.array(library="np")

    def __repr__(self) -> str:
        return f"<RField {self.name!r} in RNTuple {self._ntuple.name!r} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _field_again, (self._ntuple, self._names, self._top)


def _field_again(ntuple: RNTuple, path: tuple[str, ...], top: int) -> RField:
    return ntuple._field(path, top)


class _Record:
    def __init__(self, field: RField) -> None:
        self.field_name, self.type_name, self.field_desc = field.name, field.typename, field.description
        form = field._form_here()
        kinds = {
            "RecordArray": RNTupleFieldRole.RECORD,
            "ListOffsetArray": RNTupleFieldRole.COLLECTION,
            "UnionArray": RNTupleFieldRole.VARIANT,
        }
        text = form is not None and form.get("parameters", {}).get("__array__") == "string"
        role = RNTupleFieldRole.LEAF if form is None or text else kinds.get(form["class"], RNTupleFieldRole.LEAF)
        self.struct_role = role


def _names_in(form: Any) -> list[str]:
    found: list[str] = form["fields"] or [str(at) for at in range(len(form["contents"]))]
    return found


def _record_in(form: Any) -> Any:
    """The record in lists and options, or ``None``."""
    while form is not None and form["class"] != "RecordArray":
        if form.get("parameters", {}).get("__array__") in ("string", "bytestring"):
            return None
        form = form.get("content")
        if not isinstance(form, dict):
            return None
    return form


def _innermost(typename: str) -> str:
    """The type in lists."""
    while True:
        name, arguments = _cxx.split(typename)
        if name not in ("vector", "array", "set", "optional", "unique_ptr", "RVec", "map", "multiset"):
            return typename
        if name == "map":
            return f"std::pair<{','.join(arguments)}>"
        typename = arguments[0]


def _typename(form: Any) -> str:
    known = {"bool": "bool", "float32": "float", "float64": "double", "int8": "std::int8_t", "uint8": "std::uint8_t"}
    if form["class"] == "NumpyArray":
        primitive = form["primitive"]
        return known.get(primitive, f"std::{primitive}_t")
    if form.get("parameters", {}).get("__array__") == "string":
        return "std::string"
    if form["class"] == "ListOffsetArray":
        return f"std::vector<{_typename(form['content'])}>"
    return ""


Model_ROOT_3a3a_RNTuple = RNTuple
