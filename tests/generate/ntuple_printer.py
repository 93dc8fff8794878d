"""C++ programs that print what ROOT reads of RNTuples, for ``random_ntuples_written.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

NUMBERS = {
    "bool": "bool", "int8": "std::int8_t", "int16": "std::int16_t", "int32": "std::int32_t", "int64": "std::int64_t",
    "uint8": "std::uint8_t", "uint16": "std::uint16_t", "uint32": "std::uint32_t", "uint64": "std::uint64_t",
    "float32": "float", "float64": "double",
}  # fmt: skip

Type = tuple[Any, ...]

PRINT = r"""
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleView.hxx>
#include <bitset>
#include <fstream>
#include <optional>
#include <sstream>
#include <variant>
namespace forth {
using Out = std::ostream;
inline void hex(Out &out, const void *at, std::size_t size, bool back)
{
  auto bytes = static_cast<const unsigned char *>(at);
  for (std::size_t k = 0; k < size; k++) {
    auto byte = bytes[back ? size - 1 - k : k];
    out << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
  }
}
template <class T> std::enable_if_t<std::is_integral_v<T>> put(Out &out, const T &v)
{
  if constexpr (std::is_signed_v<T>) out << (long long)v; else out << (unsigned long long)v;
}
template <class T> std::enable_if_t<std::is_floating_point_v<T>> put(Out &out, const T &v) { out << 'x'; hex(out, &v, sizeof v, true); }
template <std::size_t N> void put(Out &out, const std::bitset<N> &v)
{
  out << '[';
  for (std::size_t k = 0; k < N; k++) out << v[k] << ',';
  out << ']';
}
inline void put(Out &out, const std::string &v) { out << 's'; hex(out, v.data(), v.size(), false); }
inline void put(Out &out, const ROOT::RNTupleCardinality<std::uint64_t> &v) { out << (std::uint64_t)v; }
inline void put(Out &out, const std::vector<std::byte> &v) { out << 's'; hex(out, v.data(), v.size(), false); }
template <class T> void put(Out &out, const std::vector<T> &v);
template <class T, std::size_t N> void put(Out &out, const std::array<T, N> &v);
template <class T> void put(Out &out, const std::optional<T> &v);
template <class... A> void put(Out &out, const std::variant<A...> &v);
template <class A, class B> void put(Out &out, const std::pair<A, B> &v);
template <class... A> void put(Out &out, const std::tuple<A...> &v);
template <class T> auto put(Out &out, const T &v) -> decltype(v.forth_put(out)) { v.forth_put(out); }
template <class T> void put(Out &out, const std::vector<T> &v)
{
  out << '[';
  for (const T &x : v) { put(out, x); out << ','; }
  out << ']';
}
inline void put(Out &out, const std::vector<bool> &v)
{
  out << '[';
  for (bool x : v) { put(out, x); out << ','; }
  out << ']';
}
template <class T, std::size_t N> void put(Out &out, const std::array<T, N> &v)
{
  out << '[';
  for (const T &x : v) { put(out, x); out << ','; }
  out << ']';
}
template <class T> void put(Out &out, const std::optional<T> &v) { if (v) put(out, *v); else out << 'n'; }
template <class... A> void put(Out &out, const std::variant<A...> &v)
{
  if (v.index() >= sizeof...(A)) { out << 'n'; return; }
  out << '<' << v.index() << '>';
  std::visit([&](const auto &x) { put(out, x); }, v);
}
template <class A, class B> void put(Out &out, const std::pair<A, B> &v)
{
  out << '{'; put(out, v.first); out << ','; put(out, v.second); out << ",}";
}
template <class... A> void put(Out &out, const std::tuple<A...> &v)
{
  out << '{';
  std::apply([&](const auto &...x) { ((put(out, x), out << ','), ...); }, v);
  out << '}';
}
} // namespace forth
"""


class Printer:
    """Makes the C++ that prints a field."""

    def __init__(self, model: str, bitsets: bool) -> None:
        self.model, self.bitsets = model, bitsets
        self.structs: list[str] = []
        self.views: list[str] = []

    def _is_untyped(self, of: Type, untyped: bool) -> bool:
        match of:
            case ("record", _):
                return untyped
            case ("list", item):
                return self._is_untyped(item, untyped)
            case ("option", item):
                return self._is_untyped(item, untyped) and has_choice(item)
            case ("tuple", slots):
                return untyped and any(has_record(slot) for slot in slots)
        return False

    def type(self, of: Type, path: str) -> str:
        """The C++ type of a field that has one."""
        match of:
            case ("number", name):
                return NUMBERS[name]
            case ("half",):
                return "float"
            case ("shape", name, shape):
                text, sizes = NUMBERS[name], list(shape)
                if self.bitsets and name == "bool":
                    text = f"std::bitset<{sizes.pop()}>"
                for size in reversed(sizes):
                    text = f"std::array<{text},{size}>"
                return text
            case ("text",) | ("category",):
                return "std::string"
            case ("bytes",):
                return "std::vector<std::byte>"
            case ("count",):
                return "ROOT::RNTupleCardinality<std::uint64_t>"
            case ("list", item):
                return f"std::vector<{self.type(item, path + '__0')}>"
            case ("array", size, ("number", "bool")) if self.bitsets:
                return f"std::bitset<{size}>"
            case ("array", size, item):
                return f"std::array<{self.type(item, path + '__0')},{size}>"
            case ("option", inner):
                return f"std::optional<{self.type(inner, path + '__0')}>"
            case ("union", parts):
                return f"std::variant<{','.join(self.type(part, f'{path}__{at}') for at, part in enumerate(parts))}>"
            case ("record", fields):
                return self._struct(fields, path)
            case ("tuple", slots) if any(has_record(slot) for slot in slots):
                return self._struct([(f"_{at}", slot) for at, slot in enumerate(slots)], path)
            case ("tuple", slots):
                inner = ",".join(self.type(slot, f"{path}__{at}") for at, slot in enumerate(slots))
                return f"std::{'pair' if len(slots) == 2 else 'tuple'}<{inner}>"
        raise ValueError(of)

    def _struct(self, fields: list[tuple[str, Type]], path: str) -> str:
        name = f"Record_{path}"
        members = [f"{self.type(field, f'{path}_{member}')} {member};" for member, field in fields]
        prints = " ".join(f"forth::put(out, {member}); out << ',';" for member, _ in fields)
        self.structs.append(
            f"struct {name} {{ {' '.join(members)} void forth_put(std::ostream &out) const {{ out << '{{'; {prints} out << '}}'; }} }};"
        )
        return name

    def put(self, of: Type, path: str, at: str, depth: int = 0, class_path: str = "") -> str:
        """The statement that prints the value of a field at an index."""
        class_path = class_path or path
        if not self._is_untyped(of, True):
            name = f"v{len(self.views)}"
            self.views.append(f'auto {name} = reader->GetView<{self.type(of, class_path)}>("{path}");')
            return f"forth::put(out, {name}({at}));"
        match of:
            case ("list", item):
                name = f"v{len(self.views)}"
                self.views.append(f'auto {name} = reader->GetCollectionView("{path}");')
                inner = self.put(item, f"{path}._0", f"at{depth}", depth + 1, class_path + "__0")
                return f"out << '['; for (auto at{depth} : {name}.GetCollectionRange({at})) {{ {inner} out << ','; }} out << ']';"
            case ("option", item):
                name = f"v{len(self.views)}"
                self.views.append(f'auto {name} = reader->GetCollectionView("{path}");')
                inner = self.put(item, f"{path}._0", f"at{depth}", depth + 1, class_path + "__0")
                return (
                    f"{{ bool none = true; for (auto at{depth} : {name}.GetCollectionRange({at})) "
                    f"{{ none = false; {inner} }} if (none) out << 'n'; }}"
                )
            case ("record", fields):
                each = [
                    self.put(field, f"{path}.{member}", at, depth, f"{class_path}_{member}") for member, field in fields
                ]
            case ("tuple", slots):
                each = [self.put(slot, f"{path}._{k}", at, depth, f"{class_path}__{k}") for k, slot in enumerate(slots)]
        return "out << '{'; " + " ".join(one + " out << ',';" for one in each) + " out << '}';"

    def program(self, fields: list[tuple[str, Type]]) -> str:
        """A function that prints all fields of all entries."""
        puts = [f"{self.put(of, name, 'i')} out << '\\n';" for name, of in fields]
        unique = list(dict.fromkeys(self.structs))
        forward = "\n".join(unique)
        return f"""
{forward}
void {self.model}(const char *path, const char *to, const char *ntuple) {{
  std::ofstream out(to);
  auto reader = ROOT::RNTupleReader::Open(ntuple, path);
  {" ".join(self.views)}
  for (ROOT::NTupleSize_t i = 0; i < reader->GetNEntries(); i++) {{ {" ".join(puts)} }}
}}
"""


def has_record(of: Type) -> bool:
    match of:
        case ("record", _):
            return True
        case ("tuple" | "union", parts):
            return any(has_record(part) for part in parts)
        case ("list" | "option", item) | ("array", _, item):
            return has_record(item)
    return False


def has_choice(of: Type) -> bool:
    match of:
        case ("option", _) | ("union", _):
            return True
        case ("record", fields):
            return any(has_choice(field) for _, field in fields)
        case ("tuple", parts):
            return any(has_choice(part) for part in parts)
        case ("list", item) | ("array", _, item):
            return has_choice(item)
    return False


def size_of(of: Type) -> tuple[int, int]:
    """Size and alignment in C++."""
    match of:
        case ("number", name):
            size = np.dtype(name).itemsize
            return size, size
        case ("half",):
            return 4, 4
        case ("text",) | ("category",):
            return 32, 8
        case ("bytes",) | ("list", _):
            return 24, 8
        case ("shape", name, shape):
            size = np.dtype(name).itemsize
            return size * int(np.prod(shape)), size
        case ("array", count, item):
            size, align = size_of(item)
            return size * count, align
        case ("option", item):
            size, align = size_of(item)
            return size + align, align
        case ("union", parts):
            sizes = [size_of(part) for part in parts]
            align = max(align for _, align in sizes)
            return (max(size for size, _ in sizes) // align + 1) * align, align
        case ("record", fields):
            sizes = [size_of(field) for _, field in fields]
        case ("tuple", slots):
            sizes = [size_of(slot) for slot in reversed(slots)]
    at = 0
    for size, align in sizes:
        at = -(-at // align) * align + size
    align = max(align for _, align in sizes)
    return -(-at // align) * align, align
