"""Writes RNTuples of random models with C++ ROOT, told apart by a seed, and what ROOT reads of them.

    python tests/generate/random_ntuples.py FOLDER SEED [MODELS]

needs PyROOT (``pip install root==0.1a12``). Models nest all kinds of fields that need no dictionary of their own; they have
several clusters, small pages, and columns of random types.
"""

import json
import pathlib
import random
import sys

import ntuples
import script

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
template <> struct Make<Point> { static Point of(Random &r) { return {made<float>(r), made<double>(r)}; } };
inline unsigned length(Random &r) { return r() % 3 == 0 ? 0 : r() % 5; }
template <class T> struct Make<std::vector<T>> {
  static std::vector<T> of(Random &r) { std::vector<T> v; for (unsigned k = length(r); k; k--) v.push_back(made<T>(r)); return v; }
};
template <class T> struct Make<ROOT::RVec<T>> {
  static ROOT::RVec<T> of(Random &r) { ROOT::RVec<T> v; for (unsigned k = length(r); k; k--) v.push_back(made<T>(r)); return v; }
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
} // namespace forth
"""

LEAVES = [
    "bool", "char", "std::byte", "float", "double", "std::string", "forth::Point",
    *(f"std::{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
]  # fmt: skip


def kind(random, depth, inside=""):
    """A random type; ``inside`` says of what it is a part."""
    if depth == 0 or random.random() < 0.15:
        return random.choice(LEAVES)
    # A value that may be missing cannot be an alternative of a variant.
    kinds = ["vector", "vector", "rvec", "array", "bitset", "pair", "tuple"]
    if inside != "variant":
        kinds += ["optional", "variant"]
    made = random.choice(kinds)

    def of(place=made):
        return kind(random, depth - 1, place if made not in ("vector", "rvec") else "")

    match made:
        case "bitset":
            return f"std::bitset<{random.choice([1, 7, 8, 33, 64, 70])}>"
        case "rvec":
            # ROOT has no field for these of truth values within other collections.
            item = of()
            return f"ROOT::RVec<{'char' if item == 'bool' else item}>"
        case "array":
            return f"std::array<{kind(random, depth - 1, inside)},{random.randint(1, 3)}>"
        case "pair":
            return f"std::pair<{of('')},{of('')}>"
        case "tuple":
            return f"std::tuple<{','.join(of('') for _ in range(random.randint(1, 3)))}>"
        case "variant":
            found = list(dict.fromkeys(of() for _ in range(random.randint(1, 3))))
            return f"std::variant<{','.join(found)}>"
        case _:
            return f"std::{made}<{of()}>"


def write(folder, seed, models):
    folder.mkdir(exist_ok=True)
    maker = ntuples.Maker(folder)
    maker.compile(ntuples.SOURCE + MAKE)
    for number in range(models):
        choose = random.Random(f"{seed} {number}")
        names = [f"f{at}" for at in range(5)]
        fields = []
        for name in names:
            of = kind(choose, choose.randint(0, 3))
            fields.append((name, of, f"v = forth::made<{of}>(random);"))
        entries = choose.choice([1, 7, 30, 100])
        cuts = sorted(choose.sample(range(entries), min(entries, choose.randint(0, 4))))
        page = choose.choice([16, 64, 256, 1 << 20])
        options = (
            f"options.SetCompression({choose.choice([0, 0, 101, 404, 505])});"
            f"options.SetInitialUnzippedPageSize(16); options.SetMaxUnzippedPageSize({page});"
            f"options.SetEnablePageChecksums({choose.choice(['true', 'false'])});"
            f"forth::Random random({choose.randrange(1 << 30)});"
        )
        maker.write(f"random-{number}.root", fields, options, entries=entries, cuts=[at for at in cuts if at])
    (folder / "values.json").write_text(json.dumps(maker.values))


if __name__ == "__main__":
    script.run(write, pathlib.Path(sys.argv[1]).absolute(), sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 4)
