"""Fields of ntuples in uproot's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forthwith._errors import KeyInFileError
from forthwith.uproot import _cxx
from forthwith.uproot._branches import entry_range
from forthwith.uproot._const import RNTupleFieldRole
from forthwith.uproot._library import NumPy, library_of
from forthwith.uproot._ntuple_fields import HasFields, numpy_objects

if TYPE_CHECKING:
    from forthwith.uproot._ntuple import RNTuple


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
        if self.top_level:
            return str(self._ntuple.forthwith._fields[self._top].title)
        return str(self._ntuple._envelopes.descriptions.get(self._names, ""))

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

    def _itself(self) -> list[RField]:
        return [self]

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
        return numpy_objects(array, found) if isinstance(library, NumPy) and found.dtype == object else found

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
