"""What ntuples and fields have in common in uproot's words: they are mappings to fields, and read these."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forthwith._entries import memory_size as memory_size_of
from forthwith._errors import KeyInFileError, place_text
from forthwith._packages import package
from forthwith.uproot._branches import Report, entry_range, filter_of
from forthwith.uproot._computed import Computed
from forthwith.uproot._in_file import InFile
from forthwith.uproot._library import Awkward, NumPy, library_of, numpy_entry
from forthwith.uproot._members import Once
from forthwith.uproot._options import check_language, no_filter, python_language
from forthwith.uproot._reading import documented
from forthwith.uproot._show import heading
from forthwith.uproot._virtual import check_alone
from forthwith.uproot._wanted import names_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from forthwith.uproot._rfield import RField

    # The path of a field, and the position of the field at the top that it is in.
    Place: TypeAlias = tuple[tuple[str, ...], int]


class _Mappings(ABCMeta):
    """The type of `HasFields`, of which only subclasses are instances."""

    # coffea asks this five times for each branch; that of mappings asks for classes that were registered, too.
    __instancecheck__ = type.__instancecheck__


_FILTERS = ("filter_name", "filter_typename", "filter_field", "filter_branch")
# Options of steps that are read together: without those that say when, or with what, something is read.
_PLAIN = frozenset((*_FILTERS, "aliases", "how", "ak_add_doc"))


class HasFields(InFile, Mapping[str, Any], metaclass=_Mappings):
    """A mapping from names to fields, which reads them."""

    _ntuple: Any

    @property
    def fields(self) -> list[RField]:
        """The fields directly here."""
        raise NotImplementedError

    def _itself(self) -> list[RField]:
        """The fields that stand for all that is here."""
        return self.fields

    @property
    def ntuple(self) -> Any:
        """The ntuple."""
        return self._ntuple

    @property
    def source(self) -> Any:
        """The bytes of the file."""
        return self._file.source

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
        return isinstance(name, str) and self._lookup(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """The field of this name or path, or ``default`` if there is none."""
        found = self._lookup(name)
        return default if found is None else found

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def __getitem__(self, where: Any) -> Any:
        """The field of a name or of a path, whose parts ``.``, ``/`` or a backslash separate."""
        if hasattr(where, "__index__"):
            return self.fields[where]
        if not isinstance(where, str):
            raise TypeError(f"fields are looked up by name, not by {where!r}")
        found = self._lookup(where)
        if found is not None:
            return found
        from difflib import get_close_matches

        near = get_close_matches(_dotted(where), self.keys())
        error = KeyInFileError(
            f"no field {where!r}"
            + (f"; did you mean {', '.join(near)}?" if near else "")
            + f"\n  in {place_text(self._file.file_path, self._ntuple.forthwith.path)}",
            file=self._file.file_path,
            object=self._ntuple.forthwith.path,
        )
        error.key, error.near = str(where), near
        raise error

    def _lookup(self, where: str) -> RField | None:
        """The field of a path, or the first one of a name; ``None`` if there is neither."""
        wanted = _dotted(where)
        place = self._at_path(wanted) or self._places.get(wanted)
        return None if place is None else self._at(place)

    def _at(self, place: Place) -> RField:
        field: RField = self._ntuple._field(*place)
        return field

    def _at_path(self, path: str) -> Place | None:
        """The field of a path from here. Only the fields on the way are looked at."""
        place = self._child(path)
        # Names may have dots in them.
        at = path.find(".")
        while place is None and at >= 0:
            above = self._child(path[:at])
            place = None if above is None else self._at(above)._at_path(path[at + 1 :])
            at = path.find(".", at + 1)
        return place

    def _child(self, name: str) -> Place | None:
        """The field of a name directly here."""
        found: Place | None = self._children.get(name)
        return found

    @Once
    def _children(self) -> dict[str, Place]:
        """The fields directly here, by name."""
        found: dict[str, Place] = {}
        for field in self.fields:
            found.setdefault(field.name, (field._names, field._top))
        return found

    @Once
    def _places(self) -> dict[str, Place]:
        """The fields of all levels: of each name the first."""
        found: dict[str, Place] = {}
        for _, field in self._members(True):
            found.setdefault(field.name, (field._names, field._top))
        return found

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
        lines = [heading(("name", "typename", "path"), widths), "-+-".join("-" * width for width in widths)]
        lines += [heading((field.name, field.typename, name), widths) for name, field in self.iteritems(**filters)]
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
            return self._itself()
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
            language: That of expressions, which is uproot's; another one is refused.
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
        check_language(language)
        library = library_of(library)
        if virtual:
            check_alone(library, how=how, expressions=expressions, cut=cut, aliases=aliases)
        elif access_log is not None:
            raise ValueError("'access_log' cannot be used with 'virtual=False'")
        start, stop = entry_range(self.num_entries, entry_start, entry_stop)
        filter_field = filter_branch if filter_field is no_filter else filter_field
        chosen = self._stored(expressions, cut, aliases, (filter_name, filter_typename, filter_field))
        if chosen is None:
            return self._computed(expressions, cut, aliases, (start, stop), library, how)
        array = self._ntuple._array_of(chosen, start, stop, virtual, access_log)
        return self._grouped(array, start, stop, library, how, ak_add_doc)

    def _stored(self, expressions: Any, cut: Any, aliases: Any, filters: tuple[Any, Any, Any]) -> Any:
        """The fields that are meant; ``None`` where something has to be computed."""
        if cut is not None or aliases:
            return None
        if expressions is None:
            return self._chosen(*filters)
        try:
            return [self[name] for name in ([expressions] if isinstance(expressions, str) else list(expressions))]
        except KeyInFileError as error:
            if str(error.key).isidentifier():
                raise
            return None

    def _grouped(self, array: Any, start: int, stop: int, library: Any, how: Any, ak_add_doc: Any) -> Any:
        """Fields that were read, in what is asked for."""
        if ak_add_doc and isinstance(library, Awkward):
            array = self._documented(array, ak_add_doc)
        if isinstance(library, Awkward) and how is None:
            return array
        columns = {}
        for label in array.fields:
            columns[label] = library.of_awkward(array[label], label, start)
            if isinstance(library, NumPy) and columns[label].dtype == object:
                columns[label] = numpy_objects(array[label], columns[label])
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
        names = self._computed_names(expressions)
        columns, length = Computed(self._ntuple, names, cut, aliases, library).read(*span)
        return library.group(columns, names, how, length, span[0])

    def _computed_names(self, expressions: Any) -> list[str]:
        """The names and expressions of a call that computes something."""
        return [field.name for field in self.fields] if expressions is None else names_of(expressions)

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
        step = step_size if isinstance(step_size, int) else self._entries_in(step_size, expressions, cut, options)
        if step < 1:
            raise ValueError(f"step_size must be at least 1, not {step}")
        for first, last, found in self._steps(expressions, cut, (start, stop, step), library, options):
            yield (found, Report(self, first, last)) if report else found

    def _steps(
        self, expressions: Any, cut: Any, span: tuple[int, int, int], library: Any, options: dict[str, Any]
    ) -> Iterator[tuple[int, int, Any]]:
        """Each step with its first entry and the one after its last. Those of fields as they are stored are read together."""
        start, stop, step = span
        if not options.keys() - _PLAIN:
            chosen = self._stored(expressions, cut, options.get("aliases"), _filters_in(options))
            if chosen:
                library = library_of(library)
                how, documented = options.get("how"), options.get("ak_add_doc", False)
                for first, last, array in self._ntuple._steps_of(chosen, *span):
                    yield first, last, self._grouped(array, first, last, library, how, documented)
                return
        for first in range(start, stop, step):
            last = min(first + step, stop)
            found = self.arrays(expressions, cut, entry_start=first, entry_stop=last, library=library, **options)
            yield first, last, found

    @property
    def tree(self) -> Any:
        """The ntuple, where trees and ntuples are asked alike."""
        return self._ntuple

    def num_entries_for(
        self, memory_size: int | str, expressions: Any = None, cut: str | None = None, **options: Any
    ) -> int:
        """About how many entries of some fields take so much memory, at least one. The arguments are those of `arrays`."""
        return self._entries_in(memory_size, expressions, cut, options)

    def _entries_in(self, memory_size: int | str, expressions: Any, cut: str | None, options: dict[str, Any]) -> int:
        size = memory_size_of(memory_size, "memory_size")
        # All fields stand for those that are computed with.
        chosen = self._stored(expressions, cut, options.get("aliases"), _filters_in(options))
        tops = {field._top for field in (self._itself() if chosen is None else chosen)}
        stored = sum(self._ntuple.forthwith._describe(at).payload_bytes for at in tops)
        return max(1, round(size * max(1, self.num_entries) / stored)) if stored else max(1, self.num_entries)


def _filters_in(options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The filters among the options of a call."""
    names, types, fields, branches = (options.get(name, no_filter) for name in _FILTERS)
    return names, types, branches if fields is no_filter else fields


def _dotted(where: str) -> str:
    """A path with dots between its parts."""
    return where.strip("/").replace("\\", ".").replace("/", ".")


def numpy_objects(array: Any, made: Any) -> Any:
    """Objects of NumPy: arrays of numbers where entries are lists of these, otherwise what Python has."""
    np, ak = package("numpy"), package("awkward")
    out = np.empty(len(array), dtype=object)
    for at, one in enumerate(array):
        is_flat = isinstance(one, ak.Array) and one.ndim == 1 and _is_numbers(one.layout)
        out[at] = numpy_entry(one) if is_flat else plain(one)
    return out


def _is_numbers(layout: Any) -> bool:
    """Whether a list is one of numbers, of which some may be missing, or of records of such."""
    if layout.is_record:
        return bool(layout.contents) and all(_is_numbers(content) for content in layout.contents)
    if layout.is_option or layout.is_indexed:
        return not layout.content.is_record and _is_numbers(layout.content)
    return bool(layout.is_numpy and layout.purelist_depth == 1 and "__array__" not in layout.parameters)


def plain(one: Any) -> Any:
    """A value as Python has it."""
    return one.tolist() if hasattr(one, "tolist") else one
