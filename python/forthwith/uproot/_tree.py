"""Trees and branches in uproot's words."""

from __future__ import annotations

from typing import Any
from weakref import ref

from forthwith._packages import package
from forthwith._tree import read
from forthwith.uproot import _identify, _reading
from forthwith.uproot._baskets import Basket, BasketKey, ranges
from forthwith.uproot._branches import HasBranches, Report, entry_range
from forthwith.uproot._cache import cache_of
from forthwith.uproot._interpretation import Interpretation, UnknownInterpretation, form_of
from forthwith.uproot._library import Awkward, library_of
from forthwith.uproot._members import Members, Once
from forthwith.uproot._model import classname_encode, wrap
from forthwith.uproot._streamers import element_of
from forthwith.uproot._virtual import check_alone, virtual_column
from forthwith.uproot._wanted import Wanted, interpretation_given
from forthwith.uproot._writing import compression_of

__all__ = ["HasBranches", "Report", "TBranch", "TBranchElement", "TTree"]


class TTree(HasBranches, Members):
    """A tree."""

    def __init__(self, ours: Any, file: Any, parent: Any = None) -> None:
        self._ours = ours
        self._file = file
        self._tree = self
        self._index = None
        self._parent = parent
        self._made: dict[int, ref[TBranch]] = {}
        self._siblings: dict[int | None, Any] = {}
        self._places: dict[int | None, dict[int, int]] = {}
        self._types: dict[int, _identify.BranchType] = {}
        self._of_types: dict[Any, _identify.BranchType] = {}
        self._whole: Any = None

    # A tree that held itself would keep its file open until garbage is collected.
    @property
    def _tree(self) -> Any:
        return self

    @_tree.setter
    def _tree(self, tree: Any) -> None:
        pass

    @property
    def forthwith(self) -> Any:
        """The tree of forthwith's."""
        return self._ours

    def _branch(self, at: int) -> TBranch:
        # References of its own: the standard dictionary of weak values takes longer than making a branch.
        known = self._made.get(at)
        found = None if known is None else known()
        if found is None:
            found = TBranch(self, at)
            self._made[at] = ref(found)
        return found

    def _type(self, at: int) -> _identify.BranchType:
        """What the branch at a place has in common with others of its type."""
        found = self._types.get(at)
        if found is None:
            of = self._ours._core.column_type(at)
            found = self._of_types.get(of)
            if found is None:
                found = self._of_types[of] = _identify.BranchType(of)
            self._types[at] = found
        return found

    def _typename(self, at: int) -> str:
        """The type of the branch at a place in C++: of a collection with branches in it, whose data are counts, its class."""
        found = str(self._type(at).typename)
        if found != "int32_t" or not self._ours._fields[at].has_children or not self._branch(at)._is_group:
            return found
        branch = self._branch(at)
        # The class of a member's branch is the one that has the member.
        element = branch.streamer
        return str(branch.member("fClassName", none_if_missing=True) or found if element is None else element.typename)

    @property
    def _raw(self) -> Any:
        return self._ours.as_object

    @property
    def _record(self) -> Any:
        if self._whole is None:
            self._whole = wrap(self._raw, self._file, None)
        return self._whole

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._ours.name)

    @property
    def title(self) -> str:
        """Its title."""
        return str(self._ours.title)

    @property
    def classname(self) -> str:  # type: ignore[override]
        """The C++ class."""
        return str(self._ours.classname)

    @property
    def class_version(self) -> int | None:  # type: ignore[override]
        """The version of its class."""
        return int(self._ours.as_object.class_version)

    @property
    def encoded_classname(self) -> str:
        """The name that uproot's Python class has."""
        return classname_encode(self.classname, self.class_version)

    @property
    def object_path(self) -> str:
        """The path in the file, with the cycle."""
        path = self._ours.path
        if ";" not in path.rpartition("/")[2]:
            path = f"{path};{self._ours.file._core.find(path).cycle}"
        return f"/{path}"

    @property
    def cache_key(self) -> str:
        """A text that differs for other trees and files."""
        return f"{self._file.hex_uuid}:{self.object_path}"

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        return int(self._ours.num_entries)

    @property
    def tree(self) -> TTree:
        """The tree itself."""
        return self

    @property
    def aliases(self) -> dict[str, str]:
        """Names that stand for expressions, as the file has them."""
        return dict(self._ours.aliases)

    @property
    def compressed_bytes(self) -> int:
        """Bytes of all baskets in the file."""
        return sum(branch.compressed_bytes for branch in self.itervalues())

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes of all baskets when decompressed."""
        return sum(branch.uncompressed_bytes for branch in self.itervalues())

    @property
    def compression_ratio(self) -> float:
        """How many bytes one byte in the file stands for."""
        return self.uncompressed_bytes / max(1, self.compressed_bytes)

    @property
    def chunk(self) -> Any:
        """There is none, since forthwith reads by itself."""
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TTree) and self._ours == other._ours

    def __hash__(self) -> int:
        return hash(self._ours)

    def __repr__(self) -> str:
        if len(self) == 0:
            return f"<TTree {self.name!r} at 0x{id(self):012x}>"
        return f"<TTree {self.name!r} ({len(self)} branches) at 0x{id(self):012x}>"

    def __array__(self, *args: Any, **options: Any) -> Any:
        """All branches as a structured array."""
        np = package("numpy")
        columns = self.arrays(library="np")
        types = [(name, column.dtype, column.shape[1:]) for name, column in columns.items()]
        out = np.empty(self.num_entries, dtype=types)
        for name, column in columns.items():
            out[name] = column
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return _tree_again, (self._file, self._ours)


def _tree_again(file: Any, ours: Any) -> TTree:
    return TTree(ours, file)


class TBranch(HasBranches, Members):
    """A branch of a tree."""

    # What is found when it is asked for; a tree has thousands of branches.
    _group: bool | None = None
    _object: Any = None
    _whole: Any = None

    def __init__(self, tree: TTree, index: int) -> None:
        self._tree = tree
        self._index: int = index
        self._file = tree._file

    def __del__(self) -> None:
        # What is left of a branch that is gone would be one more object for Python's collector of garbage to go through.
        self._tree._made.pop(self._index, None)

    @property
    def _ours(self) -> Any:
        return self._tree._ours._branch(self._index)

    @property
    def forthwith(self) -> Any:
        """The branch of forthwith's."""
        return self._ours

    @property
    def _is_group(self) -> bool:
        """Whether it stands for the branches in it."""
        if self._group is None:
            children = self._tree._ours._children.get(self._index)
            self._group = children is not None and self._has_branches(children)
        return self._group

    def _has_branches(self, children: list[int]) -> bool:
        fields = self._tree.forthwith._fields
        found = any(not fields[at].is_part for at in children)
        # A TClonesArray is read as the number of its objects, and the branches in it by themselves.
        if found and fields[self._index].has_data:
            return bool(self.member("fClassName", none_if_missing=True) != "TClonesArray")
        return found

    @property
    def _is_column(self) -> bool:
        return not self._is_group

    @property
    def _has_leaves(self) -> bool:
        """Whether it has several leaves, which are one record."""
        return str(self._ours.typename).startswith("struct {")

    @property
    def _is_alone(self) -> bool:
        return len(self) == 0

    @property
    def _is_readable(self) -> bool:
        return not isinstance(self.interpretation, UnknownInterpretation)

    @property
    def _payload_bytes(self) -> int:
        return int(self._ours._description.payload_bytes)

    @property
    def _range_title(self) -> str:
        """The text that has the range of packed numbers."""
        title = self.title
        if "," in title.rpartition("[")[2]:
            return title
        streamer = self.streamer
        return f"{streamer.title}" if streamer is not None else title

    @property
    def _record(self) -> Any:
        if self._whole is None:
            self._whole = wrap(self._raw, self._file, None)
        return self._whole

    @property
    def _raw(self) -> Any:
        """The object of forthwith's: the branch among those of its parent, where it has the same place."""
        if self._object is None:
            above = self._ours._field.parent
            siblings = self._tree._siblings.get(above)
            if siblings is None:
                siblings = self._tree._siblings[above] = self.parent._raw.member("fBranches")
            place = self.index
            found = siblings[place] if place < len(siblings) else None
            if found is None or found.member("fName") != self.name:
                found = next(one for one in siblings if one is not None and one.member("fName") == self.name)
            self._object = found
        return self._object

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._tree._ours._fields[self._index].name)

    @property
    def title(self) -> str:
        """Its title."""
        return str(self._tree._ours._fields[self._index].title)

    @property
    def classname(self) -> str:  # type: ignore[override]
        """The C++ class, ``TBranch`` or ``TBranchElement``."""
        return str(self._raw.classname)

    @property
    def class_version(self) -> int | None:  # type: ignore[override]
        """The version of its class."""
        return int(self._raw.class_version)

    @property
    def parent(self) -> Any:
        """The branch this is in, or the tree."""
        at = self._ours._field.parent
        return self._tree if at is None else self._tree._branch(at)

    @property
    def tree(self) -> TTree:
        """The tree."""
        found: TTree = self._tree
        return found

    @property
    def top_level(self) -> bool:
        """Whether it is in the tree itself."""
        return self._ours._field.parent is None

    @property
    def index(self) -> int:
        """Its place among the branches of its parent."""
        above = self._ours._field.parent
        places = self._tree._places.get(above)
        if places is None:
            fields = self._tree.forthwith._fields
            branches = [at for at in self._tree.forthwith._children[above] if not fields[at].is_part]
            places = self._tree._places[above] = {at: place for place, at in enumerate(branches)}
        found: int = places[self._index]
        return found

    @property
    def object_path(self) -> str:
        """The path in the file."""
        parent = self.parent
        return f"{parent.object_path}{':' if parent is self._tree else '/'}{self.name}"

    @property
    def cache_key(self) -> str:
        """A text that differs for other branches and files."""
        parent = self.parent
        return f"{parent.cache_key}{':' if parent is self._tree else '/'}{self.name}({self.index})"

    @property
    def typename(self) -> str:
        """The type in C++."""
        found: str = self._tree._typename(self._index)
        return found

    @Once
    def interpretation(self) -> Interpretation:
        """What it is read as."""
        return _identify.identify(self)

    def _form(self) -> Any:
        """The Awkward Form of what `array` gives."""
        if self._is_group:
            ak = package("awkward")
            inside = {one.name: one._form() for one in self.branches if one._is_group or one._is_readable}
            return ak.forms.RecordForm(list(inside.values()), list(inside))
        kind = self._tree._type(self._index)
        if kind.form is None:
            # The error says why.
            return self._ours.form
        return form_of(kind.form)

    @property
    def streamer(self) -> Any:
        """The streamer element of the member that it holds, if the file describes one."""
        return element_of(self)

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        return int(self._ours.num_entries)

    @property
    def entry_offsets(self) -> list[int]:
        """The first entry of each basket, and the number of entries."""
        return [int(entry) for entry in self._ours.entry_offsets]

    @property
    def num_baskets(self) -> int:
        """The number of baskets."""
        return int(self._ours.num_baskets)

    @property
    def compressed_bytes(self) -> int:
        """Bytes of all baskets in the file, with their headers."""
        return int(self.member("fZipBytes"))

    @property
    def uncompressed_bytes(self) -> int:
        """Bytes of all baskets when decompressed, with their headers."""
        return int(self.member("fTotBytes"))

    @property
    def compression_ratio(self) -> float:
        """How many bytes one byte in the file stands for."""
        return self.uncompressed_bytes / max(1, self.compressed_bytes)

    @property
    def compression(self) -> Any:
        """How new baskets would be compressed."""
        return compression_of(int(self.member("fCompress")))

    @property
    def aliases(self) -> dict[str, str]:
        """Names that stand for expressions, as the file has them."""
        return self.tree.aliases

    @property
    def count_branch(self) -> Any:
        """The branch that counts the items of this one."""
        leaf = self.count_leaf
        return (
            None
            if leaf is None
            else self._tree[
                leaf.member("fName").rstrip("_") if leaf.member("fName") not in self._tree else leaf.member("fName")
            ]
        )

    @property
    def count_leaf(self) -> Any:
        """The leaf that counts the items of this one."""
        leaves = self.member("fLeaves")
        return leaves[0].member("fLeafCount") if len(leaves) == 1 else None

    def basket(self, basket_num: int) -> Any:
        """One basket, decompressed and not decoded."""
        return Basket(self, basket_num)

    def basket_key(self, basket_num: int) -> Any:
        """The key of a basket."""
        return BasketKey(self, basket_num)

    def basket_entry_start_stop(self, basket_num: int) -> tuple[int, int]:
        """The first entry of a basket, and the one after its last."""
        offsets = self.entry_offsets
        if not 0 <= basket_num < len(offsets) - 1:
            raise IndexError(f"branch {self.name!r} has {self.num_baskets} baskets, and no number {basket_num}")
        return offsets[basket_num], offsets[basket_num + 1]

    def basket_compressed_bytes(self, basket_num: int) -> int:
        """Bytes of a basket in the file."""
        return int(self.basket_key(basket_num).fNbytes)

    def basket_uncompressed_bytes(self, basket_num: int) -> int:
        """Bytes of a basket when decompressed."""
        return int(self.basket_key(basket_num).fObjlen)

    def entries_to_ranges_or_baskets(self, entry_start: int, entry_stop: int) -> list[tuple[int, Any]]:
        """The baskets that hold some entries, each with its first byte in the file and the one after its last."""
        return ranges(self, entry_start, entry_stop)

    def array(
        self,
        interpretation: Any = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        decompression_executor: Any = None,
        interpretation_executor: Any = None,
        library: Any = "ak",
        array_cache: Any = "inherit",
        ak_add_doc: Any = False,
        virtual: bool = False,
        access_log: Any = None,
    ) -> Any:
        """Reads the branch.

        Args:
            interpretation: The branch's own, or a dtype for the same bytes.
            entry_start: The first entry.
            entry_stop: The entry after the last.
            decompression_executor: Accepted without effect.
            interpretation_executor: Accepted without effect.
            library: ``"ak"``, ``"np"`` or ``"pd"``.
            array_cache: As in `arrays`.
            ak_add_doc: Whether the array carries the branch's title, or which parameters it carries.
            virtual: Whether it is read when it is first touched.
            access_log: A list that gets a record of that.
        """
        library = library_of(library)
        given = None if interpretation is None else interpretation_given(interpretation)
        if virtual:
            check_alone(library)
            span = entry_range(self.num_entries, entry_start, entry_stop)
            return virtual_column(Wanted(self.name, self, given), span, access_log)
        if access_log is not None:
            raise ValueError("'access_log' cannot be used with 'virtual=False'")
        start, stop = self._entries(entry_start, entry_stop)
        cache = cache_of(array_cache, self._file)
        wanted = Wanted(self.name, self, given)
        column = _reading.columns(self._tree, [wanted], start, stop, library, self, cache)[self.name]
        if ak_add_doc and isinstance(library, Awkward):
            column = _reading.documented(column, self, ak_add_doc)
        return column

    def _entries(self, start: int | None, stop: int | None) -> tuple[int, int]:
        if self._is_group:
            return entry_range(self.num_entries, start, stop)
        if not self._is_readable:
            return 0, 0
        return read.entries_of_branch(self._tree.forthwith, self._index, start, stop)

    def __array__(self, *args: Any, **options: Any) -> Any:
        found = self.array(library="np")
        return found if not args and not options else package("numpy").asarray(found, *args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TBranch) and self._ours == other._ours

    def __hash__(self) -> int:
        return hash(self._ours)

    def __repr__(self) -> str:
        kind = "TBranchElement" if self._is_element else "TBranch"
        count = len(self)
        inside = f" ({count} subbranches)" if count else ""
        return f"<{kind} {self.name!r}{inside} at 0x{id(self):012x}>"

    @property
    def _is_element(self) -> bool:
        return bool(self.classname == "TBranchElement")

    def __reduce__(self) -> tuple[Any, ...]:
        return _branch_again, (self._tree, self._index)


def _branch_again(tree: TTree, index: int) -> TBranch:
    return tree._branch(index)


TBranchElement = TBranch
