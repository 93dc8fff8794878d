"""Writes tests/data/rntuple/*.root with C++ ROOT, RNTuples of every kind of field and encoding.

    python tests/generate/ntuples.py [FOLDER [PART ...]]

makes all of them, or those of some parts again. It needs PyROOT (``pip install root==0.1a12``). ``values.json`` is what ROOT
reads of each field.
"""

# C++ is not wrapped.
# ruff: noqa: E501

import json
import pathlib
import sys
import tempfile

import ROOT
import script

ROOT.gErrorIgnoreLevel = ROOT.kError

SOURCE = r"""
#include <ROOT/RNTupleAttrReading.hxx>
#include <ROOT/RNTupleAttrWriting.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleUtils.hxx>
#include <ROOT/RField.hxx>
#include <TDirectory.h>
#include <TFile.h>
#include <TTree.h>
#include <array>
#include <atomic>
#include <bitset>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace forth {

enum class Colour : short { red = -1, green = 2, blue = 300 };
enum Plain { none, some };

struct Point {
  float x = 0;
  double y = 0;
};

struct Base {
  int id = 0;
  std::string name;
};

struct Other {
  int id = 0;
  short rest = 0;
};

struct Derived : Base, Other {
  float own = 0;
  Point at;
  int grid[2][3] = {};
  std::vector<Point> points;
  int left_out = 0; //!
};

// Of this one ROOT makes no columns.
struct Kept {
  int id = 0;
  std::string name;
  Point at;
  std::vector<std::vector<float>> numbers;
  std::map<int, std::string> names;
};

// Values as JSON.
inline std::string js(bool v) { return v ? "true" : "false"; }
inline std::string js(double v)
{
  char out[40];
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-Infinity" : "Infinity";
  snprintf(out, sizeof out, "%.17g", v);
  // A negative zero would be an integer.
  return std::strpbrk(out, ".e") ? out : std::string(out) + ".0";
}
inline std::string js(float v) { return js(double(v)); }
template <class T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
std::string js(T v)
{
  if constexpr (std::is_unsigned_v<T>) return std::to_string((unsigned long long)v);
  else return std::to_string((long long)v);
}
inline std::string js(std::byte v) { return std::to_string(int(v)); }
inline std::string js(const std::string &v)
{
  std::string out = "\"";
  for (unsigned char c : v) {
    char hex[8];
    if (c == '"' || c == '\\' || c < 32) { snprintf(hex, sizeof hex, "\\u%04x", c); out += hex; }
    else out += char(c);
  }
  return out + "\"";
}
inline std::string js(const Point &v) { return "{\"x\": " + js(v.x) + ", \"y\": " + js(v.y) + "}"; }
template <class A, class B> std::string js(const std::pair<A, B> &v);
template <class... A> std::string js(const std::tuple<A...> &v);
template <class T> std::string js(const std::optional<T> &v);
template <class T> std::string js(const std::unique_ptr<T> &v);
template <class T> std::string js(const std::atomic<T> &v);
template <class... A> std::string js(const std::variant<A...> &v);
template <std::size_t N> std::string js(const std::bitset<N> &v);
template <class C, class = typename C::const_iterator>
std::string js(const C &all)
{
  std::string out;
  for (const auto &item : all) out += (out.empty() ? "" : ", ") + js(static_cast<const typename C::value_type &>(item));
  return "[" + out + "]";
}
inline std::string js(const std::vector<bool> &all)
{
  std::string out;
  for (bool item : all) out += (out.empty() ? "" : ", ") + js(item);
  return "[" + out + "]";
}
template <class A, class B>
std::string js(const std::pair<A, B> &v) { return "[" + js(v.first) + ", " + js(v.second) + "]"; }
template <class... A>
std::string js(const std::tuple<A...> &v)
{
  std::string out;
  std::apply([&](const auto &...x) { ((out += (out.empty() ? "" : ", ") + js(x)), ...); }, v);
  return "[" + out + "]";
}
template <class T> std::string js(const std::optional<T> &v) { return v ? js(*v) : "null"; }
template <class T> std::string js(const std::unique_ptr<T> &v) { return v ? js(*v) : "null"; }
template <class T> std::string js(const std::atomic<T> &v) { return js(v.load()); }
template <class... A>
std::string js(const std::variant<A...> &v)
{
  if (v.valueless_by_exception()) return "null";
  return std::visit([](const auto &x) { return js(x); }, v);
}
template <std::size_t N>
std::string js(const std::bitset<N> &v)
{
  std::string out;
  for (std::size_t k = 0; k < N; k++) out += (k ? ", " : "") + js(bool(v[k]));
  return "[" + out + "]";
}
inline std::string js(const Kept &v)
{
  return "{\"id\": " + js(v.id) + ", \"name\": " + js(v.name) + ", \"at\": " + js(v.at) + ", \"numbers\": " +
         js(v.numbers) + ", \"names\": " + js(v.names) + "}";
}
inline std::string js(const Derived &v)
{
  std::string grid = "[[", points;
  for (int k = 0; k < 6; k++) grid += (k == 3 ? "], [" : k ? ", " : "") + js(v.grid[k / 3][k % 3]);
  for (auto &p : v.points) points += (points.empty() ? "" : ", ") + js(p);
  return "{\"forth::Base::id\": " + js(v.Base::id) + ", \"name\": " + js(v.name) + ", \"forth::Other::id\": " +
         js(v.Other::id) + ", \"rest\": " + js(v.rest) + ", \"own\": " + js(v.own) + ", \"at\": " + js(v.at) +
         ", \"grid\": " + grid + "]], \"points\": [" + points + "]}";
}

// What ROOT reads of a field.
template <class T>
std::string read(const std::string &path, const std::string &ntuple, const std::string &field)
{
  auto reader = ROOT::RNTupleReader::Open(ntuple, path);
  auto view = reader->GetView<T>(field);
  std::string out;
  for (auto k : reader->GetEntryRange()) out += (k ? ", " : "") + js(view(k));
  return "[" + out + "]";
}

// The same of fields that ROOT makes only by the names of their types.
template <class T>
std::string read_by_name(const std::string &path, const std::string &ntuple, const std::string &field)
{
  auto reader = ROOT::RNTupleReader::Open(ntuple, path);
  auto value = reader->GetModel().GetDefaultEntry().GetPtr<T>(field);
  std::string out;
  for (auto k : reader->GetEntryRange()) { reader->LoadEntry(k); out += (k ? ", " : "") + js(*value); }
  return "[" + out + "]";
}

// The values of an attribute set, in the order they were written, with their ranges.
template <class... T>
std::string attributes(const std::string &path, const std::string &set, const std::array<const char *, sizeof...(T)> &names)
{
  auto reader = ROOT::RNTupleReader::Open("ntuple", path);
  auto found = reader->OpenAttributeSet(set);
  std::string starts, lengths, values;
  for (std::size_t k = 0; k < found->GetNEntries(); k++) {
    const auto range = found->LoadEntry(k);
    starts += (k ? ", " : "") + js((unsigned long long)range.GetStart());
    lengths += (k ? ", " : "") + js((unsigned long long)range.GetLength());
    std::size_t at = 0;
    std::string members;
    (((members += (at ? ", \"" : "\"") + std::string(names[at]) + "\": " +
                  js(*found->GetModel().GetDefaultEntry().GetPtr<T>(names[at]))), at++), ...);
    values += (k ? ", {" : "{") + members + "}";
  }
  return "{\"_rangeStart\": [" + starts + "], \"_rangeLen\": [" + lengths + "], \"_userData\": [" + values + "]}";
}
// Which of them belong to ranges of entries: that have an entry, that have all of the range, and that are within it.
inline std::string attributes_of(const std::string &path, const std::string &set, int entries)
{
  auto reader = ROOT::RNTupleReader::Open("ntuple", path);
  auto found = reader->OpenAttributeSet(set);
  auto rows = [](auto all) { std::string out; for (auto k : all) out += (out.empty() ? "" : ", ") + js((unsigned long long)k); return "[" + out + "]"; };
  std::string out;
  for (int start = 0; start < entries; start++) {
    out += std::string(start ? ", " : "") + "[[" + js(start) + ", null, " + rows(found->GetAttributes(start)) + "]";
    for (int stop = start + 1; stop <= entries; stop += 3)
      out += ", [" + js(start) + ", " + js(stop) + ", " + rows(found->GetAttributesContainingRange(start, stop)) + ", " +
             rows(found->GetAttributesInRange(start, stop)) + "]";
    out += "]";
  }
  return "[" + out + "]";
}

// Before a value is made.
template <class T> auto clear(T &v, int) -> decltype(v.clear()) { v.clear(); }
template <class T> void clear(T &v, long) {}

inline unsigned mix(unsigned n) { n ^= n >> 16; n *= 0x7feb352du; n ^= n >> 15; n *= 0x846ca68bu; return n ^ n >> 16; }

} // namespace forth
using namespace forth;

#ifdef __CLING__
#pragma link C++ class forth::Point+;
#pragma link C++ class forth::Base+;
#pragma link C++ class forth::Other+;
#pragma link C++ class forth::Derived+;
#pragma link C++ options=rntupleStreamerMode(true) class forth::Kept+;
#pragma link C++ class std::map<int, std::string>+;
#pragma link C++ class std::multiset<std::string>+;
#pragma link C++ class std::unordered_set<std::uint16_t>+;
#pragma link C++ class std::map<std::string, float>+;
#pragma link C++ class std::map<int, int>+;
#endif
"""

# Name, type, and the value of entry `i`; `v` is the field's value, empty at first.
KINDS = [
    ("truth", "bool", "v = i % 3 == 0;"),
    ("letter", "char", "v = char('a' + i) * (i % 2 ? -1 : 1);"),
    ("byte", "std::byte", "v = std::byte(mix(i));"),
    ("i8", "std::int8_t", "v = i ? mix(i) : -128;"),
    ("u8", "std::uint8_t", "v = i ? mix(i) : 255;"),
    ("i16", "std::int16_t", "v = i ? mix(i) : -32768;"),
    ("u16", "std::uint16_t", "v = i ? mix(i) : 65535;"),
    ("i32", "std::int32_t", "v = i ? mix(i) : INT_MIN;"),
    ("u32", "std::uint32_t", "v = i ? mix(i) : UINT_MAX;"),
    ("i64", "std::int64_t", "v = i ? (long long)mix(i) << 30 ^ -(long long)i : LLONG_MIN;"),
    ("u64", "std::uint64_t", "v = i ? (unsigned long long)mix(i) << 32 : ULLONG_MAX;"),
    ("f32", "float", "v = i == 1 ? INFINITY : i == 2 ? -0.0f : i == 3 ? 1e-45f : i * 1.1f - 3;"),
    ("f64", "double", "v = i == 1 ? -INFINITY : i == 2 ? -0.0 : i == 3 ? 5e-324 : i * 1.1 - 3;"),
    ("text", "std::string", 'v = std::string(i % 4 * 3, char(\'A\' + i)) + (i == 5 ? "\\u00e9" : "");'),
    ("floats", "std::vector<float>", "for (int k = 0; k < i % 4; k++) v.push_back(i + k / 8.f);"),
    ("truths", "std::vector<bool>", "for (int k = 0; k < i * 3 % 11; k++) v.push_back(mix(k + i) & 1);"),
    ("texts", "std::vector<std::string>", "for (int k = 0; k < i % 3; k++) v.push_back(std::string(k * i, 'x'));"),
    ("deep", "std::vector<std::vector<std::vector<std::int16_t>>>",
     "for (int a = 0; a < i % 3; a++) { v.emplace_back(); for (int b = 0; b < (a + i) % 4; b++) {"
     " v.back().emplace_back(); for (int c = 0; c < (b * 7 + i) % 3; c++) v.back().back().push_back(a * 100 + b * 10 + c - i); } }"),
    ("rvec", "ROOT::RVec<double>", "for (int k = 0; k < i % 5; k++) v.push_back(k - i);"),
    ("set", "std::set<int>", "for (int k = 0; k < i; k++) v.insert(mix(k) % 20);"),
    ("multiset", "std::multiset<std::string>", 'for (int k = 0; k < i % 4; k++) v.insert(k % 2 ? "b" : "a");'),
    ("uset", "std::unordered_set<std::uint16_t>", "if (i % 2) v.insert(i);"),
    ("map", "std::map<int,int>", "for (int k = 0; k < i % 3; k++) v[k * 5] = i;"),
    ("by_name", "std::map<std::string,float>", 'for (int k = 0; k < i % 3; k++) v[std::string(k + 1, \'k\')] = i + k;'),
    ("optional", "std::optional<float>", "v.reset(); if (i % 3) v = i;"),
    ("optionals", "std::vector<std::optional<std::string>>",
     "for (int k = 0; k < i % 4; k++) { v.emplace_back(); if ((i + k) % 2) v.back() = std::string(k, 'o'); }"),
    ("pointer", "std::unique_ptr<std::vector<int>>",
     "if (i % 2) { v = std::make_unique<std::vector<int>>(); for (int k = 0; k < i % 3; k++) v->push_back(k + i); } else v.reset();"),
    ("array", "std::array<int,3>", "v = {i, -i, i * i};"),
    ("grid", "std::array<std::array<float,2>,3>", "for (int k = 0; k < 6; k++) v[k / 2][k % 2] = i * 10 + k;"),
    ("lists", "std::array<std::vector<int>,2>",
     "for (auto &l : v) { l.clear(); } for (int k = 0; k < i % 5; k++) v[k % 2].push_back(k + i);"),
    ("arrays", "std::vector<std::array<double,2>>", "for (int k = 0; k < i % 4; k++) v.push_back({k + .5, i + .25});"),
    ("names", "std::array<std::string,2>", 'v = {std::string(i % 3, \'p\'), "q"};'),
    ("bits12", "std::bitset<12>", "v = mix(i);"),
    ("bits64", "std::bitset<64>", "v = (unsigned long long)mix(i) << 31;"),
    ("bits65", "std::bitset<65>", "v.reset(); v[64] = i % 2; v[i] = 1;"),
    ("bitsets", "std::vector<std::bitset<3>>", "for (int k = 0; k < i % 4; k++) v.push_back(k + i);"),
    ("pair", "std::pair<int,std::string>", "v = {i, std::string(i % 2, 'z')};"),
    ("tuple", "std::tuple<float,std::vector<int>,bool>", "v = {i / 4.f, std::vector<int>(i % 3, i), i % 2};"),
    ("pairs", "std::vector<std::pair<float,std::vector<std::uint8_t>>>",
     "for (int k = 0; k < i % 3; k++) v.push_back({k, std::vector<std::uint8_t>(k + i % 2, k)});"),
    ("variant", "std::variant<std::int32_t,std::string,std::vector<float>>",
     "if (i % 3 == 0) v = i; else if (i % 3 == 1) v = std::string(i, 'v'); else v = std::vector<float>{i + .5f, 0};"),
    ("variants", "std::vector<std::variant<bool,double>>",
     "for (int k = 0; k < i % 5; k++) if (mix(k + i) & 1) v.push_back(k % 2 == 0); else v.push_back(k + .5);"),
    ("only", "std::variant<float>", "v = i / 2.f;"),
    ("atomic", "std::atomic<std::int64_t>", "v = -i;"),
    ("colour", "forth::Colour", "v = i % 2 ? Colour::blue : Colour::red;"),
    ("colours", "std::vector<forth::Plain>", "for (int k = 0; k < i % 3; k++) v.push_back(k ? some : none);"),
    ("point", "forth::Point", "v.x = i; v.y = -i / 3.;"),
    ("points", "std::vector<forth::Point>", "for (int k = 0; k < i % 4; k++) v.push_back({k + .5f, i / 7.});"),
    ("derived", "forth::Derived",
     "v = {}; v.Base::id = i; v.name = std::string(i % 3, 'n'); v.Other::id = -i; v.rest = i * 100; v.own = i / 2.f; v.at.y = i;"
     " for (int k = 0; k < 6; k++) v.grid[k / 3][k % 3] = k * i; for (int k = 0; k < i % 3; k++) v.points.push_back({1.f * k, 2. * i});"),
    ("derivations", "std::vector<forth::Derived>",
     "for (int k = 0; k < i % 3; k++) { v.emplace_back(); v.back().Base::id = k; v.back().points.resize(i % 2); }"),
    ("points_or_not", "std::vector<std::optional<forth::Point>>",
     "for (int k = 0; k < i % 4; k++) { v.emplace_back(); if (k % 2) v.back() = Point{1.f * k, 1. * i}; }"),
]  # fmt: skip


class Maker:
    """Declares C++ and keeps what ROOT reads."""

    def __init__(self, folder):
        self.folder = folder
        self.values = {}
        self.count = 0

    def compile(self, source):
        """Compiles classes and functions."""
        with tempfile.TemporaryDirectory() as build:
            macro = pathlib.Path(build) / "ntuples.C"
            macro.write_text(source)
            if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
                raise SystemExit("the classes do not compile")

    def run(self, body, *arguments):
        """Runs a function body, in which `path` is where to write."""
        self.count += 1
        name = f"forth_run_{self.count}"
        code = f"void {name}(const std::string &path) {{ {body} }}"
        if not ROOT.gInterpreter.Declare(code):
            raise SystemExit(f"does not compile: {code}")
        getattr(ROOT, name)(*arguments)

    def read(self, file, ntuple, field, kind, by_name=False):
        """Keeps what ROOT reads of a field."""
        read = ROOT.forth.read_by_name if by_name else ROOT.forth.read
        text = str(read[kind](str(self.folder / file), ntuple, field))
        self.values.setdefault(file, {}).setdefault(ntuple, {})[field] = json.loads(text)

    def write(self, file, fields, options="", entries=10, cuts=(4, 7), ntuple="ntuple", model="", by_name=False):
        """Writes a file of these fields, and keeps what ROOT reads of them."""
        make = (
            'model->AddField(ROOT::RFieldBase::Create("{0}", "{1}").Unwrap());'
            'auto p_{0} = model->GetDefaultEntry().GetPtr<{1}>("{0}");\n'
            if by_name
            else 'auto p_{0} = model->MakeField<{1}>("{0}");\n'
        )
        make = "".join(make.format(name, kind) for name, kind, _ in fields)
        fill = "".join(f"{{ auto &v = *p_{name}; clear(v, 0); {value} }}\n" for name, _, value in fields)
        cut = " || ".join(f"i == {at}" for at in cuts) or "false"
        self.run(
            f"""auto model = ROOT::RNTupleModel::Create();
            {make} {model}
            ROOT::RNTupleWriteOptions options; {options}
            auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "{ntuple}", path, options);
            for (int i = 0; i < {entries}; i++) {{
              if ({cut}) writer->CommitCluster();
              {fill}
              writer->Fill();
            }}""",
            str(self.folder / file),
        )
        for name, kind, _ in fields:
            self.read(file, ntuple, name, kind, by_name)


def kinds(maker):
    """Every kind of field."""
    for name, setting in (("zstd", 505), ("none", 0)):
        maker.write(f"kinds-{name}.root", KINDS, f"options.SetCompression({setting});")


def codecs(maker):
    """The other codecs, and pages without checksums."""
    names = ("i32", "f64", "text", "deep", "truths", "optional")
    some = [kind for kind in KINDS if kind[0] in names]
    for name, setting in (("zlib", 101), ("lzma", 207), ("lz4", 404)):
        options = f"options.SetCompression({setting}); options.SetEnablePageChecksums(false);"
        maker.write(f"codec-{name}.root", some, options, entries=40, cuts=(15,))


def encodings(maker):
    """Every type of column that floats and integers can have, by name and C++ of the representation."""
    numbers = "i == 0 ? 0 : (i % 2 ? -1 : 1) * (i * 0.37f + (i == 7 ? 60000 : 0))"
    fields, model = [], ""

    def add(name, kind, change, value):
        nonlocal model
        fields.append((name, kind, value))
        model += (
            f'{{ auto &field = static_cast<ROOT::RField<{kind}> &>(model->GetMutableField("{name}")); {change} }}\n'
        )

    def column(*names):
        return "field.SetColumnRepresentatives({{" + ", ".join(f"ROOT::ENTupleColumnType::k{n}" for n in names) + "}});"

    for kind in ("float", "double"):
        wide = ("Real64", "SplitReal64") if kind == "double" else ()
        for name in ("Real16", "Real32", "SplitReal32", *wide):
            add(f"{kind}_{name}", kind, column(name), f"v = {numbers};")
        for bits in (10, 13, 20, 31):
            add(f"{kind}_trunc{bits}", kind, f"field.SetTruncated({bits});", f"v = {numbers};")
        for bits in (1, 7, 11, 24, 32):
            add(
                f"{kind}_quant{bits}",
                kind,
                f"field.SetQuantized({bits}, {{-1.5, 2.25}});",
                "v = -1.5 + (i * 37 % 41) * 3.75 / 40;",
            )
    for bits in (16, 32, 64):
        for sign, name in (("", "Int"), ("u", "UInt")):
            kind = f"std::{sign}int{bits}_t"
            for split in ("", "Split"):
                add(
                    f"{split}{name}{bits}",
                    kind,
                    column(f"{split}{name}{bits}"),
                    "v = i % 5 ? mix(i) * 0x100000001ull : -i;",
                )
    for name in ("Index32", "Index64", "SplitIndex32", "SplitIndex64"):
        value = "for (int k = 0; k < int(mix(i) % 6); k++) v.push_back(k * i);"
        add(f"list_{name}", "std::vector<int>", column(name), value)
        add(f"text_{name}", "std::string", column(name, "Char"), "v = std::string(mix(i) % 7, char('a' + i % 26));")
    add(
        "bools_of_list",
        "std::vector<bool>",
        column("SplitIndex32"),
        "for (int k = 0; k < i % 19; k++) v.push_back(mix(k ^ i) & 1);",
    )
    for compression in (505, 0):
        name = "zstd" if compression else "none"
        options = f"options.SetCompression({compression});"
        maker.write(f"encodings-{name}.root", fields, options, entries=50, cuts=(13, 31), model=model)


def pages(maker):
    """Several pages of a column in a cluster, and pages that several columns have in common."""
    fields = [
        ("number", "std::int32_t", "v = i;"),
        ("same", "std::int32_t", "v = i;"),
        ("unsigned_same", "std::uint32_t", "v = i;"),
        ("truth", "bool", "v = mix(i) & 1;"),
        ("list", "std::vector<float>", "for (int k = 0; k < int(mix(i) % 5); k++) v.push_back(i + k / 8.f);"),
        ("lists", "std::vector<std::vector<std::uint16_t>>",
         "for (int a = 0; a < int(mix(i) % 3); a++) v.push_back(std::vector<std::uint16_t>(mix(a + i) % 5, i));"),
        ("text", "std::string", "v = std::string(mix(i) % 9, char('a' + i % 26));"),
        ("optional", "std::optional<int>", "v.reset(); if (mix(i) % 3) v = i;"),
        ("variant", "std::variant<int,std::string>", "if (mix(i) & 1) v = i; else v = std::string(i % 4, 'v');"),
        ("array", "std::array<short,3>", "v = {short(i), short(-i), 0};"),
        ("bits", "std::bitset<5>", "v = mix(i);"),
    ]  # fmt: skip
    options = "options.SetInitialUnzippedPageSize(16); options.SetMaxUnzippedPageSize(64);"
    for compression in (505, 0):
        name = "zstd" if compression else "none"
        more = f"{options} options.SetCompression({compression});"
        maker.write(f"pages-{name}.root", fields, more, entries=150, cuts=(70,))


LATE = [
    ("number", "float", "v = i + .5f;"),
    ("text", "std::string", "v = std::string(i % 3, 'l');"),
    ("lists", "std::vector<std::vector<int>>", "for (int k = 0; k < i % 3; k++) v.push_back(std::vector<int>(k, i));"),
    ("pair", "std::pair<int,std::vector<int>>", "v = {i, std::vector<int>(i % 3, i)};"),
    ("array", "std::array<float,2>", "v = {1.f * i, -1.f * i};"),
    ("bits", "std::bitset<9>", "v = i * 37;"),
    ("optional", "std::optional<int>", "v.reset(); if (i % 2) v = i;"),
    ("variant", "std::variant<int,std::string>", 'if (i % 2) v = i; else v = std::string("x");'),
    ("point", "forth::Point", "v.x = i; v.y = -i;"),
]


def late(maker):
    """Fields that are added when there are entries already: between clusters, and in the middle of one."""
    add = "".join(f'auto p_{n} = updater->MakeField<{k}>("{n}");\n' for n, k, _ in LATE)
    fill = "".join(f"{{ auto &v = *p_{n}; clear(v, 0); {value} }}\n" for n, _, value in LATE)
    for file, at, cut in (("late-between.root", 6, 6), ("late-within.root", 5, 3)):
        maker.run(
            f"""auto model = ROOT::RNTupleModel::Create();
            auto p_first = model->MakeField<int>("first");
            ROOT::RNTupleWriteOptions options;
            auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path, options);
            auto before = [&](int i) {{ *p_first = i; if (i == {cut}) writer->CommitCluster(); }};
            int i = 0;
            for (; i < {at}; i++) {{ before(i); writer->Fill(); }}
            if (i == {cut}) writer->CommitCluster();
            auto updater = writer->CreateModelUpdater();
            updater->BeginUpdate();
            {add}
            updater->CommitUpdate();
            for (; i < 12; i++) {{ if (i == 9) writer->CommitCluster(); *p_first = i; {fill} writer->Fill(); }}""",
            str(maker.folder / file),
        )
        maker.read(file, "ntuple", "first", "int")
        for name, kind, _ in LATE:
            if name == "variant":
                # ROOT has no values of it before there are any.
                continue
            maker.read(file, "ntuple", name, kind)


def projected(maker):
    """Fields that show parts of others, and how many items lists have."""
    file = "projected.root"
    maker.run(
        """auto model = ROOT::RNTupleModel::Create();
        auto points = model->MakeField<std::vector<forth::Point>>("points");
        auto number = model->MakeField<int>("number");
        auto show = [&](std::unique_ptr<ROOT::RFieldBase> field, auto map) { model->AddProjectedField(std::move(field), map).ThrowOnError(); };
        show(std::make_unique<ROOT::RField<std::vector<float>>>("xs"), [](const std::string &n) {
          return n == "xs" ? std::string("points") : std::string("points._0.x"); });
        show(std::make_unique<ROOT::RField<ROOT::RNTupleCardinality<std::uint32_t>>>("n32"), [](const std::string &) { return std::string("points"); });
        show(std::make_unique<ROOT::RField<ROOT::RNTupleCardinality<std::uint64_t>>>("n64"), [](const std::string &) { return std::string("points"); });
        show(std::make_unique<ROOT::RField<int>>("again"), [](const std::string &) { return std::string("number"); });
        ROOT::RNTupleWriteOptions options; options.SetInitialUnzippedPageSize(16); options.SetMaxUnzippedPageSize(64);
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path, options);
        for (int i = 0; i < 40; i++) {
          points->clear();
          for (int k = 0; k < int(mix(i) % 4); k++) points->push_back({1.f * k, 1. * i});
          *number = i;
          if (i == 23) writer->CommitCluster();
          writer->Fill();
        }""",
        str(maker.folder / file),
    )
    for name, kind in (
        ("points", "std::vector<forth::Point>"),
        ("xs", "std::vector<float>"),
        ("again", "int"),
        ("number", "int"),
    ):
        maker.read(file, "ntuple", name, kind)
    lengths = [len(entry) for entry in maker.values[file]["ntuple"]["points"]]
    maker.values[file]["ntuple"] |= {"n32": lengths, "n64": lengths}


def representations(maker):
    """A column with two representations, of which each cluster uses one."""
    file = "representations.root"
    maker.run(
        """auto model = ROOT::RNTupleModel::CreateBare();
        using T = ROOT::ENTupleColumnType;
        auto real = std::make_unique<ROOT::RField<float>>("real");
        real->SetColumnRepresentatives({{T::kReal32}, {T::kReal16}, {T::kSplitReal32}});
        auto text = std::make_unique<ROOT::RField<std::string>>("text");
        text->SetColumnRepresentatives({{T::kSplitIndex64, T::kChar}, {T::kIndex32, T::kChar}});
        auto list = std::make_unique<ROOT::RField<std::vector<int>>>("list");
        list->SetColumnRepresentatives({{T::kIndex32}, {T::kSplitIndex64}});
        model->AddField(std::move(real)); model->AddField(std::move(text)); model->AddField(std::move(list));
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path);
        auto entry = writer->CreateEntry();
        auto pr = entry->GetPtr<float>("real"); auto pt = entry->GetPtr<std::string>("text"); auto pl = entry->GetPtr<std::vector<int>>("list");
        for (int i = 0; i < 20; i++) {
          *pr = i / 4.f; *pt = std::string(i % 3, 'r'); pl->assign(i % 4, i);
          if (i % 5 == 0 && i) {
            writer->CommitCluster();
            auto &zero = const_cast<ROOT::RFieldBase &>(writer->GetModel().GetConstField("real"));
            ROOT::Internal::RFieldRepresentationModifier::SetPrimaryColumnRepresentation(zero, i / 5 % 3);
            for (auto name : {"text", "list"})
              ROOT::Internal::RFieldRepresentationModifier::SetPrimaryColumnRepresentation(const_cast<ROOT::RFieldBase &>(writer->GetModel().GetConstField(name)), i / 5 % 2);
          }
          writer->Fill(*entry);
        }""",
        str(maker.folder / file),
    )
    for name, kind in (("real", "float"), ("text", "std::string"), ("list", "std::vector<int>")):
        maker.read(file, "ntuple", name, kind)


def several(maker):
    """Ntuples in directories beside a tree, one written by several contexts, one without entries, one with one entry."""
    file = "several.root"
    maker.run(
        """TFile file(path.c_str(), "RECREATE");
        auto write = [&](TDirectory &where, const char *name, int count) {
          auto model = ROOT::RNTupleModel::Create();
          auto p = model->MakeField<int>("number"); auto l = model->MakeField<std::vector<float>>("list");
          auto writer = ROOT::RNTupleWriter::Append(std::move(model), name, where);
          for (int i = 0; i < count; i++) { *p = i; l->assign(i % 3, i / 2.f); writer->Fill(); }
        };
        write(file, "first", 10); write(file, "empty", 0);
        auto *folder = file.mkdir("folder")->mkdir("below");
        write(*folder, "one", 1);
        TTree tree("tree", ""); int n = 3; tree.Branch("n", &n); tree.Fill(); file.cd(); tree.Write();
        {
          auto model = ROOT::RNTupleModel::CreateBare();
          model->MakeField<int>("number"); model->MakeField<std::vector<int>>("list");
          auto writer = ROOT::RNTupleParallelWriter::Append(std::move(model), "parallel", file);
          auto a = writer->CreateFillContext(), b = writer->CreateFillContext();
          auto fill = [](auto &context, int from) {
            auto entry = context->CreateEntry();
            for (int i = from; i < from + 5; i++) {
              *entry->template GetPtr<int>("number") = i; entry->template GetPtr<std::vector<int>>("list")->assign(i % 3, i);
              context->Fill(*entry);
            }
            context->FlushCluster();
          };
          fill(b, 100); fill(a, 0); fill(b, 200);
        }
        file.Write();""",
        str(maker.folder / file),
    )
    for name in ("first", "empty", "folder/below/one"):
        maker.read(file, name, "number", "int")
        maker.read(file, name, "list", "std::vector<float>")
    maker.read(file, "parallel", "number", "int")
    maker.read(file, "parallel", "list", "std::vector<int>")


def untyped(maker):
    """Records and collections without a type."""
    file = "untyped.root"
    maker.run(
        """auto model = ROOT::RNTupleModel::CreateBare();
        std::vector<std::unique_ptr<ROOT::RFieldBase>> members;
        members.push_back(std::make_unique<ROOT::RField<float>>("pt"));
        members.push_back(std::make_unique<ROOT::RField<std::string>>("name"));
        model->AddField(std::make_unique<ROOT::RRecordField>("record", std::move(members)));
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path);
        auto entry = writer->CreateEntry();
        for (int i = 0; i < 6; i++) {
          auto &field = static_cast<const ROOT::RRecordField &>(writer->GetModel().GetConstField("record"));
          auto *at = static_cast<unsigned char *>(entry->GetPtr<void>("record").get());
          *reinterpret_cast<float *>(at + field.GetOffsets()[0]) = i;
          *reinterpret_cast<std::string *>(at + field.GetOffsets()[1]) = std::string(i % 3, 'u');
          writer->Fill(*entry);
        }""",
        str(maker.folder / file),
    )
    maker.values[file] = {"ntuple": {"record": [{"pt": float(i), "name": "u" * (i % 3)} for i in range(6)]}}


KEPT = "{ int(k + i), std::string(i % 5, 'k'), {1.f * i, -1. * k}, {{}, std::vector<float>(i % 3, k + .5f)}, {{k, \"one\"}, {-i - 1, std::string(k, 't')}} }"


def streamed(maker):
    """Objects that ROOT writes by their streamers, alone and in other fields."""
    fields = [
        ("number", "int", "v = i;"),
        ("kept", "forth::Kept", f"int k = i % 3; v = Kept{KEPT};"),
        ("list", "std::vector<forth::Kept>", f"for (int k = 0; k < int(mix(i) % 4); k++) v.push_back(Kept{KEPT});"),
        ("optional", "std::optional<forth::Kept>", f"v.reset(); int k = 1; if (i % 3) v = Kept{KEPT};"),
        ("pair", "std::pair<forth::Kept,int>", f"int k = 2; v = {{Kept{KEPT}, i}};"),
        ("array", "std::array<forth::Kept,2>", f"for (int k = 0; k < 2; k++) v[k] = Kept{KEPT};"),
        ("variant", "std::variant<int,forth::Kept>", f"int k = 1; if (mix(i) & 1) v = Kept{KEPT}; else v = i;"),
    ]
    for name, setting in (("zstd", 505), ("none", 0)):
        options = f"options.SetCompression({setting});"
        options += "options.SetInitialUnzippedPageSize(16); options.SetMaxUnzippedPageSize(64);"
        maker.write(f"streamed-{name}.root", fields, options, entries=20, cuts=(7,), by_name=True)


def never(maker):
    """Fields for objects that are streamed, of which there is none: no streamer info describes their class."""
    fields = [
        ("number", "int", "v = i;"),
        ("list", "std::vector<forth::Kept>", ""),
        ("optional", "std::optional<forth::Kept>", "v.reset();"),
        ("pairs", "std::vector<std::pair<int,forth::Kept>>", ""),
    ]
    maker.write("never.root", fields, "options.SetCompression(0);", entries=5, cuts=(3,), by_name=True)


SOME = [
    ("number", "int", "v = i;"),
    ("real", "double", "v = i / 3.;"),
    ("list", "std::vector<float>", "for (int k = 0; k < int(mix(i) % 5); k++) v.push_back(i + k / 8.f);"),
    ("text", "std::string", "v = std::string(mix(i) % 9, char('a' + i % 26));"),
]


def continued(maker):
    """Envelopes and pages that are longer than a record may be."""
    options = "ROOT::Internal::RNTupleWriteOptionsManip::SetMaxKeySize(options, 128); options.SetCompression({});"
    maker.write("continued-none.root", SOME, options.format(0), entries=200, cuts=(90,))
    maker.write("continued-zstd.root", SOME, options.format(505), entries=2000, cuts=(900,))
    del maker.values["continued-zstd.root"]["ntuple"]["real"]


def attributes(maker):
    """Sets of values that belong to ranges of entries: ranges in each other, across each other and without entries."""
    for name, setting in (("zstd", 505), ("none", 0)):
        file = f"attributes-{name}.root"
        maker.run(
            f"""auto model = ROOT::RNTupleModel::Create();
            auto number = model->MakeField<int>("number");
            ROOT::RNTupleWriteOptions options; options.SetCompression({setting});
            TFile file(path.c_str(), "RECREATE");
            auto writer = ROOT::RNTupleWriter::Append(std::move(model), "ntuple", file, options);
            auto of_quality = ROOT::RNTupleModel::Create();
            auto text = of_quality->MakeField<std::string>("text");
            auto list = of_quality->MakeField<std::vector<float>>("list");
            auto quality = writer->CreateAttributeSet(std::move(of_quality), "quality");
            auto of_run = ROOT::RNTupleModel::Create();
            auto run = of_run->MakeField<std::int32_t>("run");
            auto runs = writer->CreateAttributeSet(std::move(of_run), "run@1");
            auto nothing = ROOT::RNTupleModel::Create();
            nothing->MakeField<double>("never");
            auto empty = writer->CreateAttributeSet(std::move(nothing), "empty");
            auto fill = [&](int count) {{ for (int i = 0; i < count; i++) {{ *number += 1; writer->Fill(); }} }};
            auto set = [&](const char *v) {{ *text = v; list->assign(std::strlen(v) % 4, *number / 2.f); }};
            auto all = quality->BeginRange();
            auto one = runs->BeginRange();
            fill(4); writer->CommitCluster();
            auto inner = quality->BeginRange();
            fill(3);
            auto across = quality->BeginRange();
            fill(2);
            set("inner"); quality->CommitRange(std::move(inner));
            *run = 1; runs->CommitRange(std::move(one));
            auto two = runs->BeginRange();
            auto none = quality->BeginRange(); set("none"); quality->CommitRange(std::move(none));
            fill(2); writer->CommitCluster();
            set("across"); quality->CommitRange(std::move(across));
            fill(3);
            *run = 2; runs->CommitRange(std::move(two));
            set("all of it"); quality->CommitRange(std::move(all));""",
            str(maker.folder / file),
        )
        path = str(maker.folder / file)
        maker.read(file, "ntuple", "number", "int")
        code = f"""std::string forth_attributes_{name}(const std::string &path, bool of) {{
            if (of) return "{{\\"quality\\": " + attributes_of(path, "quality", 14) + ", \\"run@1\\": " + attributes_of(path, "run@1", 14) + ", \\"empty\\": []}}";
            return "{{\\"ntuple@quality\\": " + attributes<std::string, std::vector<float>>(path, "quality", {{"text", "list"}}) +
              ", \\"ntuple@run@1\\": " + attributes<std::int32_t>(path, "run@1", {{"run"}}) +
              ", \\"ntuple@empty\\": " + attributes<double>(path, "empty", {{"never"}}) + "}}"; }}"""
        if not ROOT.gInterpreter.Declare(code):
            raise SystemExit("does not compile")
        read = getattr(ROOT, f"forth_attributes_{name}")
        maker.values[file] |= json.loads(str(read(path, False)))
        (maker.folder / f"attributes-{name}.json").write_text(str(read(path, True)) + "\n")


def groups(maker):
    """Several groups of clusters, each with a page list of its own."""
    file = "groups.root"
    maker.run(
        """auto model = ROOT::RNTupleModel::Create();
        auto number = model->MakeField<int>("number");
        auto list = model->MakeField<std::vector<float>>("list");
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path);
        for (int i = 0; i < 40; i++) {
          *number = i; list->assign(i % 4, i / 2.f);
          writer->Fill();
          if (i % 5 == 4) writer->CommitCluster(i % 10 == 9);
        }""",
        str(maker.folder / file),
    )
    maker.read(file, "ntuple", "number", "int")
    maker.read(file, "ntuple", "list", "std::vector<float>")


def merged(maker):
    """Clusters of several files, with pages of different encodings and fields that some of them lack."""
    with tempfile.TemporaryDirectory() as folder:
        parts = Maker(pathlib.Path(folder))
        parts.count = 1000
        more = [*SOME, ("more", "std::vector<std::int16_t>", "for (int k = 0; k < i % 3; k++) v.push_back(-i);")]
        for name, fields, setting in (("a", SOME, 505), ("b", SOME, 0), ("c", more, 404)):
            parts.write(f"{name}.root", fields, f"options.SetCompression({setting});", entries=30, cuts=(11,))
        for mode in ("Filter", "Union"):
            merger = ROOT.TFileMerger(False)
            merger.OutputFile(str(maker.folder / f"merged-{mode.lower()}.root"), "RECREATE", 505)
            for name in "abc":
                merger.AddFile(f"{folder}/{name}.root")
            merger.SetMergeOptions(f"rntuple.MergingMode={mode}")
            if not merger.Merge():
                raise SystemExit("not merged")
            for name, kind, _ in more if mode == "Union" else SOME:
                maker.read(f"merged-{mode.lower()}.root", "ntuple", name, kind)


def write(folder):
    """Makes the files."""
    folder.mkdir(exist_ok=True)
    maker = Maker(folder)
    maker.compile(SOURCE)
    golden = folder / "values.json"
    chosen = sys.argv[2:]
    if chosen and golden.exists():
        maker.values = json.loads(golden.read_text())
    for part in PARTS:
        if not chosen or part.__name__ in chosen:
            part(maker)
            files = (f"{json.dumps(file)}: {json.dumps(found)}" for file, found in sorted(maker.values.items()))
            golden.write_text("{\n" + ",\n".join(files) + "\n}\n")


PARTS = [
    kinds,
    codecs,
    encodings,
    pages,
    late,
    projected,
    representations,
    several,
    untyped,
    streamed,
    never,
    continued,
    attributes,
    groups,
    merged,
]

if __name__ == "__main__":
    script.run(write, script.folder(script.DATA / "rntuple"))
