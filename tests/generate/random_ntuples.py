"""Writes RNTuples of random models with C++ ROOT, told apart by a seed, and what ROOT reads of them.

    python tests/generate/random_ntuples.py FOLDER SEED [MODELS]

needs PyROOT (``pip install root==0.1a12``). Models nest all kinds of fields; they have several clusters, small pages,
columns of random types, some of them in two representations of which each cluster uses one, and fields that are added when there
are entries already. Some models have objects that ROOT streams.
"""

import json
import os
import pathlib
import random
import signal
import sys
import time

import ntuples
import ROOT
import script

# C++ is not wrapped.
# ruff: noqa: E501

MAKE = r"""
#include <random>
namespace forth {
using Random = std::mt19937;
template <class T, class = void> struct Make;
template <class T> T made(Random &r) { return Make<T>::of(r); }
template <class T> struct Make<T, std::enable_if_t<std::is_integral_v<T>>> {
  static T of(Random &r) { return r() % 4 == 0 ? T(r() % 3 - 1) : T((unsigned long long)r() << 32 | r()); }
};
template <> struct Make<bool> { static bool of(Random &r) { return r() & 1; } };
template <> struct Make<std::byte> { static std::byte of(Random &r) { return std::byte(r()); } };
template <class T> struct Make<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static T of(Random &r)
  {
    switch (r() % 16) {
    case 0: return T(-0.0);
    case 1: return std::numeric_limits<T>::denorm_min();
    case 2: return -std::numeric_limits<T>::infinity();
    case 3: return std::numeric_limits<T>::max();
    default: return T((double(r()) - 2147483648.) / (1 << r() % 30));
    }
  }
};
template <> struct Make<std::string> {
  static std::string of(Random &r)
  {
    std::string v;
    for (unsigned k = r() % 2 ? r() % 12 : 0; k; k--) v += char(' ' + r() % 95);
    return v;
  }
};
template <> struct Make<Colour> {
  static Colour of(Random &r) { constexpr Colour all[] = {Colour::red, Colour::green, Colour::blue}; return all[r() % 3]; }
};
template <> struct Make<Plain> { static Plain of(Random &r) { return r() & 1 ? some : none; } };
template <> struct Make<Point> { static Point of(Random &r) { return {made<float>(r), made<double>(r)}; } };
inline unsigned length(Random &r) { return r() % 3 == 0 ? 0 : r() % 5; }
template <class T> struct Make<std::vector<T>> {
  static std::vector<T> of(Random &r) { std::vector<T> v; for (unsigned k = length(r); k; k--) v.push_back(made<T>(r)); return v; }
};
template <class T> struct Make<ROOT::RVec<T>> {
  static ROOT::RVec<T> of(Random &r) { ROOT::RVec<T> v; for (unsigned k = length(r); k; k--) v.push_back(made<T>(r)); return v; }
};
template <class T> struct Make<std::unique_ptr<T>> {
  static std::unique_ptr<T> of(Random &r) { if (r() & 1) return std::make_unique<T>(made<T>(r)); return nullptr; }
};
template <class C> C some_of(Random &r) { C v; for (unsigned k = length(r); k; k--) v.insert(made<typename C::value_type>(r)); return v; }
template <class T> struct Make<std::set<T>> { static auto of(Random &r) { return some_of<std::set<T>>(r); } };
template <class T> struct Make<std::multiset<T>> { static auto of(Random &r) { return some_of<std::multiset<T>>(r); } };
template <class T> struct Make<std::unordered_set<T>> { static auto of(Random &r) { return some_of<std::unordered_set<T>>(r); } };
template <class A, class B> struct Make<std::map<A, B>> {
  static auto of(Random &r) { std::map<A, B> v; for (unsigned k = length(r); k; k--) { A a = made<A>(r); v[a] = made<B>(r); } return v; }
};
template <class T, std::size_t N> struct Make<std::array<T, N>> {
  static std::array<T, N> of(Random &r) { std::array<T, N> v; for (auto &x : v) x = made<T>(r); return v; }
};
template <std::size_t N> struct Make<std::bitset<N>> {
  static std::bitset<N> of(Random &r) { std::bitset<N> v; for (std::size_t k = 0; k < N; k++) v[k] = r() & 1; return v; }
};
template <class T> struct Make<std::optional<T>> {
  static std::optional<T> of(Random &r) { if (r() & 1) return made<T>(r); return {}; }
};
template <class A, class B> struct Make<std::pair<A, B>> {
  static std::pair<A, B> of(Random &r) { auto a = made<A>(r); return {a, made<B>(r)}; }
};
template <class... A> struct Make<std::tuple<A...>> { static std::tuple<A...> of(Random &r) { return {made<A>(r)...}; } };
template <class... A> struct Make<std::variant<A...>> {
  using V = std::variant<A...>;
  template <std::size_t... K> static V at(std::size_t which, Random &r, std::index_sequence<K...>)
  {
    V v;
    ((which == K ? (void)v.template emplace<K>(made<std::variant_alternative_t<K, V>>(r)) : (void)0), ...);
    return v;
  }
  static V of(Random &r) { return at(r() % sizeof...(A), r, std::index_sequence_for<A...>()); }
};
template <> struct Make<Derived> {
  static Derived of(Random &r)
  {
    Derived v;
    v.Base::id = made<int>(r); v.name = made<std::string>(r); v.Other::id = made<int>(r); v.rest = made<short>(r);
    v.own = made<float>(r); v.at = made<Point>(r); v.points = made<std::vector<Point>>(r);
    for (auto &row : v.grid) for (auto &x : row) x = made<int>(r);
    return v;
  }
};
template <> struct Make<Kept> {
  static Kept of(Random &r)
  {
    Kept v;
    v.id = made<int>(r); v.name = made<std::string>(r); v.at = made<Point>(r);
    v.numbers = made<std::vector<std::vector<float>>>(r); v.names = made<std::map<int, std::string>>(r);
    return v;
  }
};

// ROOT looks for the tag of a variant behind the largest alternative, where C++ has it only if its size is a multiple of the
// strictest alignment: of other variants, ROOT writes and reads what lies between.
template <class T> struct Sound : std::true_type {};
template <template <class...> class C, class... A> struct Sound<C<A...>> : std::bool_constant<(Sound<A>::value && ...)> {};
template <class T, std::size_t N> struct Sound<std::array<T, N>> : Sound<T> {};
template <class... A> struct Sound<std::variant<A...>>
  : std::bool_constant<(Sound<A>::value && ...) && std::max({sizeof(A)...}) % std::max({alignof(A)...}) == 0> {};

// Gives columns of a field, and of those in it, other types than those that ROOT chooses, and some of them a second one.
inline void encode(ROOT::RFieldBase &field, Random &r)
{
  using T = ROOT::ENTupleColumnType;
  static constexpr T types[] = {
    T::kReal16, T::kReal32, T::kReal64, T::kSplitReal32, T::kSplitReal64, T::kInt16, T::kInt32, T::kInt64, T::kSplitInt16,
    T::kSplitInt32, T::kSplitInt64, T::kUInt16, T::kUInt32, T::kUInt64, T::kSplitUInt16, T::kSplitUInt32, T::kSplitUInt64,
    T::kIndex32, T::kIndex64, T::kSplitIndex32, T::kSplitIndex64};
  for (auto *inner : field.GetMutableSubfields()) encode(*inner, r);
  if (r() % 3 == 0) return;
  if (r() % 3 == 0) {
    const int bits = 10 + r() % 22;
    if (auto *f = dynamic_cast<ROOT::RField<float> *>(&field)) return f->SetTruncated(bits);
    if (auto *f = dynamic_cast<ROOT::RField<double> *>(&field)) return f->SetTruncated(bits);
  }
  const auto chosen = field.GetColumnRepresentatives();
  if (chosen.empty() || chosen[0].empty()) return;
  ROOT::RFieldBase::RColumnRepresentations::Selection_t found;
  const unsigned wanted = r() % 3 ? 1 : 2;
  for (int tries = 0; tries < 60 && found.size() < wanted; tries++) {
    auto one = chosen[0];
    one[0] = types[r() % std::size(types)];
    if (std::find(found.begin(), found.end(), one) != found.end()) continue;
    found.push_back(one);
    try { field.SetColumnRepresentatives(found); } catch (const ROOT::RException &) { found.pop_back(); }
  }
  if (!found.empty()) field.SetColumnRepresentatives(found);
}
// Goes on with another representation of columns that have several.
inline void next(const ROOT::RFieldBase &field, Random &r)
{
  for (auto *inner : field.GetConstSubfields()) next(*inner, r);
  const auto count = field.GetColumnRepresentatives().size();
  if (count < 2) return;
  ROOT::Internal::RFieldRepresentationModifier::SetPrimaryColumnRepresentation(const_cast<ROOT::RFieldBase &>(field), r() % count);
}
} // namespace forth
"""

LEAVES = [
    "bool", "char", "std::byte", "float", "double", "std::string", "forth::Point", "forth::Colour", "forth::Plain", "forth::Derived",
    *(f"std::{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
]  # fmt: skip

# Those of which there are dictionaries. Unordered ones ROOT reads in another order than they are stored in.
SETS = [
    "std::map<int,int>", "std::map<std::string,float>", "std::set<int>", "std::multiset<std::string>",
]  # fmt: skip

# What ROOT makes by the names of types.
NAMED = ["vector", "array", "pair", "optional", "variant"]


def kind(random, depth, inside="", streamed=False):
    """A random type; ``inside`` says of what it is a part, ``streamed`` whether it may have objects that are streamed."""
    if depth == 0 or random.random() < 0.15:
        if streamed and random.random() < 0.7:
            return "forth::Kept"
        return random.choice(LEAVES if streamed or random.random() < 0.9 else SETS)
    # A value that may be missing cannot be an alternative of a variant, and in another such value it is a list of none or one.
    kinds = ["vector", "vector", "rvec", "array", "bitset", "pair", "tuple"]
    if inside not in ("variant", "optional", "unique_ptr"):
        kinds += ["optional", "variant"]
    # What holds these cannot be copied, as much that is around them has to be.
    if inside == "top":
        kinds.append("unique_ptr")
    made = random.choice([each for each in kinds if not streamed or each in NAMED])

    def of(place=made):
        return kind(random, depth - 1, place if made not in ("vector", "rvec") else "", streamed)

    match made:
        case "bitset":
            return f"std::bitset<{random.choice([1, 7, 8, 33, 64, 70])}>"
        case "rvec":
            # ROOT has no field for these of truth values within other collections.
            item = of()
            return f"ROOT::RVec<{'char' if item == 'bool' else item}>"
        case "array":
            # Of some variants in arrays ROOT writes other bytes than theirs: those of classes that it streams.
            place = "variant" if streamed else inside or made
            return f"std::array<{kind(random, depth - 1, place, streamed)},{random.randint(1, 3)}>"
        case "pair":
            return f"std::pair<{of('pair')},{of('pair')}>"
        case "tuple":
            return f"std::tuple<{','.join(of('tuple') for _ in range(random.randint(1, 3)))}>"
        case "variant":
            found = list(dict.fromkeys(of() for _ in range(random.randint(1, 3))))
            return f"std::variant<{','.join(found)}>"
        case _:
            return f"std::{made}<{of()}>"


def write_one(maker, file, choose):
    """Writes an RNTuple of a random model, and keeps what ROOT reads of it."""
    streamed = choose.random() < 0.2
    kinds = []
    while len(kinds) < 5:
        found = kind(choose, choose.randint(0, 3), "top", streamed)
        if "variant" not in found or ROOT.forth.Sound[found].value:
            kinds.append(found)
    # ROOT has no value of these before there are any.
    is_late = choose.random() < 0.3 and not streamed
    late = [at for at in range(3, 5) if is_late and "variant" not in kinds[at]]
    bits, (low, high) = choose.randint(1, 32), choose.choice([(-1.5, 2.25), (0, 1), (-1000, -3), (0.1, 0.7)])

    entries = choose.choice([1, 7, 30, 100])
    cuts = [at for at in choose.sample(range(entries), min(entries, choose.randint(0, 4))) if at]
    begin = choose.randint(0, entries) if late else 0
    page = choose.choice([16, 64, 256, 1 << 20])

    def field(where, at):
        of, name = kinds[at], f"f{at}"
        if streamed:
            return (
                f'model->AddField(ROOT::RFieldBase::Create("{name}", "{of}").Unwrap());'
                f'auto p{at} = model->GetDefaultEntry().GetPtr<{of}>("{name}");\n'
            )
        change = f'forth::encode(model->GetMutableField("{name}"), coder);' if where == "model" else ""
        return f'auto p{at} = {where}->MakeField<{of}>("{name}"); {change}\n'

    def fill(which):
        return "".join(f"{{ auto &v = *p{at}; v = forth::made<{kinds[at]}>(random); }}\n" for at in which)

    early = [at for at in range(5) if at not in late]
    cut = " || ".join(f"i == {at}" for at in cuts) or "false"
    cut = f"if ({cut}) {{ writer->CommitCluster(); for (auto f : writer->GetModel().GetConstFieldZero().GetConstSubfields()) forth::next(*f, coder); }}"
    extend = f"""auto updater = writer->CreateModelUpdater(); updater->BeginUpdate();
      {"".join(field("updater", at) for at in late)} updater->CommitUpdate();"""
    quantised = (
        ""
        if streamed
        else f"""auto p5 = model->MakeField<std::vector<float>>("f5");
      static_cast<ROOT::RField<float> *>(model->GetMutableField("f5").GetMutableSubfields()[0])->SetQuantized({bits}, {{{low}, {high}}});
      auto levels = [&] {{ p5->clear(); for (unsigned k = forth::length(random); k; k--) p5->push_back(std::clamp(float({low} + ({high} - {low}) * (random() % 1000) / 999.), float({low}), float({high}))); }};"""
    )
    levels = "" if streamed else "levels();"
    maker.run(
        f"""forth::Random random({choose.randrange(1 << 30)}), coder({choose.randrange(1 << 30)});
        auto model = ROOT::RNTupleModel::Create();
        {"".join(field("model", at) for at in early)}
        {quantised}
        ROOT::RNTupleWriteOptions options;
        options.SetCompression({choose.choice([0, 0, 101, 207, 404, 505])});
        options.SetInitialUnzippedPageSize(16); options.SetMaxUnzippedPageSize({page});
        options.SetEnablePageChecksums({choose.choice(["true", "false"])});
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "ntuple", path, options);
        int i = 0;
        for (; i < {begin}; i++) {{ {cut} {fill(early)} {levels} writer->Fill(); }}
        {extend if late else ""}
        for (; i < {entries}; i++) {{ {cut} {fill(range(5))} {levels} writer->Fill(); }}""",
        str(maker.folder / file),
    )
    for at, of in enumerate(kinds):
        maker.read(file, "ntuple", f"f{at}", of, streamed)
    if not streamed:
        maker.read(file, "ntuple", "f5", "std::vector<float>")


def ended(child, seconds=180):
    """The exit code of a process, which is ended itself after some time: ROOT may wait for ever once its memory is damaged."""
    for _ in range(10 * seconds):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def write(folder, seed, models):
    """Writes so many files, and what ROOT reads of them. ROOT ends with some models: those are told, and left out."""
    folder.mkdir(exist_ok=True)
    maker = ntuples.Maker(folder)
    maker.compile("#include <algorithm>\n" + ntuples.SOURCE + MAKE)
    values = {}
    for number in range(models):
        file, part = f"random-{number}.root", folder / "part.json"
        child = os.fork()
        if child == 0:
            code = 1
            try:
                write_one(maker, file, random.Random(f"{seed} {number}"))
                part.write_text(json.dumps(maker.values))
                code = 0
            finally:
                os._exit(code)
        if ended(child) == 0:
            values |= json.loads(part.read_text())
        else:
            print(f"ROOT fails with model {number} of seed {seed}", flush=True)
        (folder / "values.json").write_text(json.dumps(values))


if __name__ == "__main__":
    script.run(write, pathlib.Path(sys.argv[1]).absolute(), sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 4)
