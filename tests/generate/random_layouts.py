"""Random classes, as C++: their members of every kind, bases, containers in any order, and what makes and tells them."""

import dataclasses
import random

INTS = [
    *("bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long", "unsigned long"),
    *("long long", "unsigned long long", "Bool_t", "Char_t", "UChar_t", "Short_t", "UShort_t", "Int_t", "UInt_t", "Long_t", "ULong_t"),
    *("Long64_t", "ULong64_t", "std::int8_t", "std::uint16_t", "std::int32_t", "std::uint64_t", "size_t"),
]
FLOATS = ["float", "double", "Float_t", "Double_t"]
PACKED = ["Double32_t", "Float16_t"]
# The ranges in comments of packed numbers, and between which values they are made.
RANGES = [
    *(("", -50, 50), ("[0,10]", 0, 10), ("[0,10,12]", 0, 10), ("[-1,1,3]", -1, 1), ("[-pi,pi,20]", -3.1415, 3.1415), ("[0,twopi]", 0, 6.283)),
    *(("[0,0,10]", -50, 50), ("[0,0,7]", -1e6, 1e6), ("[ -5 , 100 , 31 ]", -5, 100), ("[-2*pi, 2*pi]", -6.28, 6.28), ("[1e-3,1e3,32]", 0.01, 900)),
    *(("[0,0]", -9, 9), ("[0,0,14]", -9, 9), ("[0,0,2]", -9, 9), ("[-100,100,8]", -100, 100), ("[0,1,24] some words", 0, 1)),
]
ROOTS = ["TNamed", "TVector3", "TRef", "TList", "TObjArray", "TObjString", "std::complex<double>", "std::complex<float>"]


@dataclasses.dataclass
class Class:
    """A class, and what others may do with it."""

    name: str
    bases: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)  # of declaration, comment, C++ that makes, expression that tells, name
    virtual: bool = False  # objects of it know their class
    tobject: bool = False
    version: int = 0  # of ClassDef
    copied: bool = True
    moved: bool = True  # it may be an item of a container
    sealed: bool = False  # pointers lead to it: no more classes are derived from it
    text: str = ""  # instead of a definition of its own

    def ancestors(self):
        return {self.name}.union(*(base.ancestors() for base in self.bases if isinstance(base, Class)))


class Layouts:
    """Random classes and types of them."""

    def __init__(self, seed, count):
        self.pick = random.Random(seed)
        self.classes = []
        self.enums = []
        self.arrays = []  # enumerations that ROOT stores arrays of: those that are an int
        self.types = {}  # those that need dictionaries, in the order of their parts
        self.numbers = 0
        # To a compiler they are the same type: ROOT makes dictionaries of containers of one.
        self.packed_item = self.pick.choice(["Double32_t", "double"])
        for k in range(3):
            kind = self.pick.choice(["enum E{}", "enum class E{}", "enum E{} : int", "enum class E{} : unsigned int"])
            low = 0 if "unsigned" in kind else -5
            self.arrays.extend([f"E{k}"] * ("unsigned" not in kind))
            self.enums.append((f"E{k}", f"{kind.format(k)} {{ e{k}a = {low}, e{k}b = 1, e{k}c = {self.pick.choice([7, 100000])} }};"))
        for k in range(count):
            self.classes.append(self.new_class(k))

    def often(self, share):
        return self.pick.random() < share

    def name(self):
        self.numbers += 1
        return f"m{self.numbers}"

    # Types

    def number(self, in_container=False):
        floats = [one for one in FLOATS if one.lower().startswith(("f", "d" if self.packed_item == "double" else "f"))] if in_container else FLOATS
        return self.pick.choice(INTS if self.often(0.6) else floats)

    def key(self):
        """A type that has an order."""
        kind = self.pick.randrange(10)
        if kind < 5:
            return self.pick.choice(["int", "short", "unsigned long", "Long64_t", "char", "unsigned char", "bool", "UInt_t"])
        if kind < 8:
            return self.pick.choice(["std::string", "std::string", "TString"])
        if kind < 9:
            return self.used(f"std::pair<{self.pick.choice(['int', 'short'])},{self.pick.choice(['int', 'std::string'])}>")
        return self.used(f"std::vector<{self.pick.choice(['int', 'std::string'])}>")

    def used(self, kind):
        # ROOT makes those of others by itself, and refuses to be told.
        if not kind.startswith(("std::array<", "std::unique_ptr<")):
            self.types.setdefault(kind)
        return kind

    def of_class(self, **wanted):
        wanted.setdefault("moved", True)
        fit = [one for one in self.classes if all(getattr(one, name) == value for name, value in wanted.items())]
        return self.pick.choice(fit) if fit else None

    def pointee(self, unlike="no such name"):
        fit = [one for one in self.classes if unlike not in one.name]
        one = self.pick.choice(fit) if fit else None
        if one:
            one.sealed = True
        return one

    def simple(self, copied):
        """A type that is no container: whether it can be copied, and the type."""
        kind = self.pick.randrange(20)
        if kind < 7:
            return True, self.number(True)
        if kind < 11:
            return True, self.pick.choice(["std::string", "std::string", "TString"])
        if kind == 11:
            return True, self.packed_item
        if kind == 12 and self.often(0.5):
            return True, self.pick.choice(self.enums)[0]
        if kind == 13 and self.classes:
            return True, self.pointee().name + "*"
        if kind == 14 and self.often(0.3):
            return True, self.pick.choice(["TVector3", "TNamed", "TObjString", "std::complex<float>", "TRef"])
        one = self.of_class(copied=True) if copied else self.of_class()
        return (one.copied, one.name) if one else (True, "int")

    def container(self, depth, copied=False):
        """A container: whether it can be copied, and its type."""
        kind = self.pick.choices(
            ["vector", "list", "deque", "set", "multiset", "unordered", "map", "multimap", "unordered_map", "pair", "array", "bitset", "unique", "rvec", "forward"],
            [30, 6, 6, 5, 3, 5, 10, 3, 5, 5, 5, 3, 4, 4, 2],
        )[0]
        if kind == "bitset":
            return True, self.used(f"std::bitset<{self.pick.choice([1, 5, 8, 12, 64, 70])}>")
        if kind in ("set", "multiset"):
            return True, self.used(f"std::{kind}<{self.key()}>")
        if kind == "unordered":
            name = self.pick.choice(["unordered_set", "unordered_multiset"])
            return True, self.used(f"std::{name}<{self.pick.choice(['int', 'std::string', 'short', 'Long64_t', 'double'])}>")
        if kind == "unique":
            one = None if copied or not self.classes else self.pointee("::")
            return (False, f"std::unique_ptr<{one.name}>") if one else (True, self.used("std::vector<float>"))
        # ROOT's dictionaries of containers copy items, but where they make them without being told.
        if kind == "vector" and not copied and self.often(0.1):
            one = self.pointee("::")
            return (False, f"std::vector<std::unique_ptr<{one.name}>>") if one else (True, self.used("std::vector<bool>"))
        fine, item = self.item(depth - 1, True)
        if kind in ("vector", "list", "deque"):
            return fine, self.used(f"std::{kind}<{item}>")
        if kind == "rvec":
            return fine, self.used(f"ROOT::VecOps::RVec<{item}>")
        if kind == "forward":
            return fine, self.used(f"std::forward_list<{item}>")
        if kind in ("map", "multimap"):
            key = self.key()
            return fine, self.used(f"std::{kind}<{key},{item}>")
        if kind == "unordered_map":
            name = self.pick.choice(["unordered_map", "unordered_multimap"])
            key = self.pick.choice(["int", "std::string", "unsigned short"])
            return fine, self.used(f"std::{name}<{key},{item}>")
        if kind == "array":
            return fine, self.used(f"std::array<{item},{self.pick.choice([1, 2, 3])}>")
        other, second = self.item(depth - 1, copied)
        return fine and other, self.used(f"std::pair<{item},{second}>")

    def item(self, depth, copied):
        return self.container(depth, copied) if depth > 0 and self.often(0.45) else self.simple(copied)

    # Classes

    def new_class(self, k):
        pick = self.pick
        name = f"N::C{k}" if self.often(0.12) else f"C{k}"
        made = Class(name)
        if self.often(0.35):
            made.bases.append(self.pick.choice(["TObject", "TObject", "TNamed"]))
            made.tobject = made.virtual = True
        for base in pick.sample(self.classes, min(len(self.classes), pick.choice([0, 0, 1, 1, 2, 3]))):
            known = set().union(*(other.ancestors() for other in made.bases if isinstance(other, Class)))
            open_ones = not any(one.sealed for one in self.classes if one.name in base.ancestors())
            if open_ones and not base.ancestors() & known and not (base.tobject and made.bases):
                made.bases.append(base)
                made.virtual |= base.virtual
                made.tobject |= base.tobject
                made.copied &= base.copied
                made.moved &= base.moved
        made.virtual |= self.often(0.3)
        if made.tobject or self.often(0.3):
            made.version, made.virtual = pick.choice([1, 2, 5, 17]), True
        for _ in range(pick.choice([0, 1, 2, 3, 4, 5, 6])):
            self.add_members(made)
        return made

    def add(self, made, kind, comment="", array="", make=None, tell=None):
        name = self.name()
        make = make or f"rnd::make(v.{name});"
        tell = tell or f"rnd::tell(v.{name}, out)"
        made.members.append((f"{kind} {name}{array}{{}};", comment, make.replace("@", f"v.{name}"), tell.replace("@", f"v.{name}"), name))
        return name

    def dimensions(self):
        sizes = [self.pick.choice([1, 2, 3]) for _ in range(self.pick.choice([1, 1, 2, 3]))]
        return "".join(f"[{size}]" for size in sizes)

    def add_members(self, made):
        pick = self.pick
        kind = pick.randrange(100)
        array = self.dimensions() if self.often(0.25) else ""
        if kind < 16:
            self.add(made, self.number(), array=array)
        elif kind < 24:
            comment, low, high = pick.choice(RANGES)
            self.add(made, pick.choice(PACKED), comment, array, f"rnd::ranged(@, {low}, {high});")
        elif kind < 28:
            of = pick.choice(self.enums)[0]
            self.add(made, of, array=array if of in self.arrays else "")
        elif kind < 36:
            self.add(made, pick.choice(["TString", "std::string"]), array=array)
        elif kind < 39:
            self.add(made, "char *")
        elif kind < 49:
            self.add_counted(made)
        elif kind < 57:
            if one := self.pick.choice(self.classes) if self.classes else None:
                made.copied &= one.copied
                made.moved &= one.moved
                self.add(made, one.name, pick.choice(["", "", "", "|| not divided"]), array=array)
        elif kind < 65:
            if one := self.pointee():
                always = self.often(0.2)
                make = f"@ = new {one.name}; rnd::make(*@);" if always else None
                self.add(made, f"{one.name} *", "->" if always else "", "" if always else array, make)
        elif kind < 88:
            fine, of = self.container(3)
            made.copied &= fine
            self.add(made, of, array=array if self.often(0.3) else "")
        elif kind < 91:
            of = next(of for _, of in iter(lambda: self.container(2), None) if "unique_ptr" not in of)
            self.add(made, f"{of} *", make=f"@ = new {of}; rnd::make(*@);", tell="rnd::tell(*@, out)")
        elif kind < 94:
            self.add(made, pick.choice(ROOTS))
            if made.members[-1][0].startswith(("TList", "TObjArray")):
                made.copied = made.moved = False
        elif kind < 97:
            if one := self.of_class(tobject=True):
                made.copied = made.moved = False
                if self.often(0.5):
                    name = self.add(made, "TClonesArray")
                    declared = made.members[-1]
                    made.members[-1] = (f'TClonesArray {name}{{"{one.name}"}};', *declared[1:])
                else:
                    self.add(made, "TClonesArray *", make=f'@ = new TClonesArray("{one.name}"); rnd::make(*@);', tell="rnd::tell(*@, out)")
        elif kind < 98:
            self.add(made, "TObject *")
        else:
            name = self.add(made, "int", "! not stored")
            made.members[-1] = (*made.members[-1][:2], "", "", name)

    def add_counted(self, made):
        """A counter, and arrays of which it says how long they are."""
        pick = self.pick
        n = self.add(made, "int", make="@ = rnd::times() % 9;")
        for _ in range(pick.choice([1, 1, 2])):
            kind = pick.randrange(10)
            comment, make = f"[{n}]", "rnd::counted<{0}>(v." + n + ")"
            if kind < 5:
                of = self.number()
            elif kind < 7:
                of = pick.choice(PACKED)
                extra, low, high = pick.choice([one for one in RANGES if "words" not in one[0]])
                comment, make = comment + extra, f"rnd::countedRanged<{{0}}>(v.{n}, {low}, {high})"
            elif kind < 8:
                of = "TString"
            else:
                of = pick.choice(self.classes).name if self.classes else "int"
            if self.often(0.15):
                sizes = self.dimensions()
                make = "{{ auto &all = reinterpret_cast<{0} *(&)[sizeof @ / sizeof({0} *)]>(@); for (auto &one : all) one = " + make + "; }}"
                tell = "rnd::manyTold<{0}>(@, v." + n + ", out)"
                self.add(made, f"{of} *", comment, sizes, make.format(of), tell.format(of))
                continue
            self.add(made, f"{of} *", comment, make=f"@ = {make.format(of)};", tell=f"rnd::told(@, v.{n}, out)")
