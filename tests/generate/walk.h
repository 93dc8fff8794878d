// Reads trees back with C++ ROOT and writes down what it finds as the canonical stream of canonical.py.
//
// A Column<T> collects values of type T, whole buffers at a time, and can emit the stream and the type
// string of what it collected. read* fill one from a branch; goldens.py picks the function and fetches the answer.
#ifndef GENERATE_WALK_H
#define GENERATE_WALK_H

#include "classes.h"
#include <TBranch.h>
#include <TLeaf.h>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace walk {

using Stream = std::string;

inline void lengths(Stream &out, const std::vector<std::uint64_t> &n)
{
  out.append(reinterpret_cast<const char *>(n.data()), n.size() * 8);
}

inline Stream line(char kind, std::uint64_t n) { return Stream(1, kind) + " " + std::to_string(n) + "\n"; }

// ---------------------------------------------------------------- numbers
template <class T, class = void>
struct Column {
  static_assert(std::is_arithmetic_v<T>, "no column for this type");
  Stream bytes;
  std::uint64_t n = 0;

  static constexpr char letter()
  {
    return std::is_same_v<T, bool> ? 'b' : std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  }
  static std::string type()
  {
    if (letter() == 'b')
      return "bool";
    return (letter() == 'f' ? "float" : letter() == 'i' ? "int" : "uint") + std::to_string(8 * sizeof(T));
  }
  void push(T v)
  {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(v))
        v = std::copysign(std::numeric_limits<T>::quiet_NaN(), T(1));
    bytes.append(reinterpret_cast<const char *>(&v), sizeof(T));
    n++;
  }
  void emit(Stream &out) const
  {
    if (n == 0)
      out += "Z\n";
    else
      out += std::string("P ") + letter() + std::to_string(sizeof(T)) + " " + std::to_string(n) + "\n" + bytes;
  }
};

// ---------------------------------------------------------------- strings
struct Strings {
  Stream bytes;
  std::vector<std::uint64_t> sizes;

  static std::string type() { return "string"; }
  void add(const char *text, std::size_t size)
  {
    bytes.append(text, size);
    sizes.push_back(size);
  }
  void emit(Stream &out) const
  {
    if (sizes.empty()) {
      out += "Z\n";
      return;
    }
    out += line('S', sizes.size());
    lengths(out, sizes);
    out += bytes;
  }
};
template <>
struct Column<std::string> : Strings {
  void push(const std::string &v) { add(v.data(), v.size()); }
};
template <>
struct Column<TString> : Strings {
  void push(const TString &v) { add(v.Data(), v.Length()); }
};

// ---------------------------------------------------------------- lists
template <class T>
struct Lists {
  Column<T> items;
  std::vector<std::uint64_t> counts;

  void emit(Stream &out) const
  {
    if (counts.empty()) {
      out += "Z\n";
      return;
    }
    out += line('L', counts.size());
    lengths(out, counts);
    items.emit(out);
  }
};
template <class T>
struct Column<std::vector<T>> : Lists<T> {
  static std::string type() { return "var * " + Column<T>::type(); }
  void push(const std::vector<T> &v)
  {
    this->counts.push_back(v.size());
    for (std::size_t k = 0; k < v.size(); k++)
      this->items.push(v[k]);
  }
};
template <class T, std::size_t N>
struct Column<T[N]> : Lists<T> {
  static std::string type() { return std::to_string(N) + " * " + Column<T>::type(); }
  void push(const T (&v)[N])
  {
    this->counts.push_back(N);
    for (const T &x : v)
      this->items.push(x);
  }
};

template <class C>
struct Items : Lists<typename C::value_type> {
  static std::string type() { return "var * " + Column<typename C::value_type>::type(); }
  void push(const C &v)
  {
    this->counts.push_back(v.size());
    for (const auto &x : v)
      this->items.push(x);
  }
};
template <class T>
struct Column<std::list<T>> : Items<std::list<T>> {};
template <class T>
struct Column<std::deque<T>> : Items<std::deque<T>> {};
template <class T>
struct Column<std::set<T>> : Items<std::set<T>> {};
template <class T>
struct Column<std::forward_list<T>> : Lists<T> {
  static std::string type() { return "var * " + Column<T>::type(); }
  void push(const std::forward_list<T> &v)
  {
    this->counts.push_back(std::distance(v.begin(), v.end()));
    for (const T &x : v)
      this->items.push(x);
  }
};
template <class T>
struct Column<std::multiset<T>> : Items<std::multiset<T>> {};
template <class T>
struct Column<std::unordered_set<T>> : Items<std::unordered_set<T>> {};
template <class T>
struct Column<std::unordered_multiset<T>> : Items<std::unordered_multiset<T>> {};
template <class T>
struct Column<ROOT::VecOps::RVec<T>> : Items<ROOT::VecOps::RVec<T>> {};
template <class T, std::size_t N>
struct Column<std::array<T, N>> : Lists<T> {
  static std::string type() { return std::to_string(N) + " * " + Column<T>::type(); }
  void push(const std::array<T, N> &v)
  {
    this->counts.push_back(N);
    for (const T &x : v)
      this->items.push(x);
  }
};
template <std::size_t N>
struct Column<std::bitset<N>> : Lists<bool> {
  static std::string type() { return "var * bool"; }
  void push(const std::bitset<N> &v)
  {
    this->counts.push_back(N);
    for (std::size_t k = 0; k < N; k++)
      this->items.push(v[k]);
  }
};

// ---------------------------------------------------------------- maps: lists of tuples
template <class M>
struct Pairs {
  Column<typename M::key_type> keys;
  Column<typename M::mapped_type> values;
  std::vector<std::uint64_t> counts;
  std::uint64_t n = 0;

  static std::string type()
  {
    return "var * (" + Column<typename M::key_type>::type() + ", " + Column<typename M::mapped_type>::type() + ")";
  }
  void push(const M &v)
  {
    counts.push_back(v.size());
    n += v.size();
    for (const auto &[key, value] : v) {
      keys.push(key);
      values.push(value);
    }
  }
  void emit(Stream &out) const
  {
    if (counts.empty()) {
      out += "Z\n";
      return;
    }
    out += line('L', counts.size());
    lengths(out, counts);
    if (n == 0) {
      out += "Z\n";
      return;
    }
    out += "T " + std::to_string(n) + " 2\n";
    keys.emit(out);
    values.emit(out);
  }
};
template <class K, class V>
struct Column<std::map<K, V>> : Pairs<std::map<K, V>> {};
template <class K, class V>
struct Column<std::multimap<K, V>> : Pairs<std::multimap<K, V>> {};
template <class K, class V>
struct Column<std::unordered_map<K, V>> : Pairs<std::unordered_map<K, V>> {};
template <class K, class V>
struct Column<std::unordered_multimap<K, V>> : Pairs<std::unordered_multimap<K, V>> {};

// ---------------------------------------------------------------- pointers: values or null
template <class T>
struct Column<T *> {
  Column<T> values;
  Stream there;

  static std::string type() { return "?" + Column<T>::type(); }
  void push(const T *v)
  {
    there += char(v != nullptr);
    if (v)
      values.push(*v);
  }
  void emit(Stream &out) const
  {
    if (there.empty()) {
      out += "Z\n";
      return;
    }
    out += line('O', there.size()) + there;
    values.emit(out);
  }
};
template <class T>
struct Column<std::unique_ptr<T>> : Column<T *> {
  void push(const std::unique_ptr<T> &v) { Column<T *>::push(v.get()); }
};

// ---------------------------------------------------------------- records
template <class S, class M>
struct Plain {
  const char *name;
  M S::*member;
  using Values = Column<M>;
  void push(Values &to, const S &from) const { to.push(from.*member); }
};
template <class S, class M, class N>
struct Counted {
  const char *name;
  M *S::*member;
  N S::*count;
  using Values = Column<std::vector<M>>;
  void push(Values &to, const S &from) const
  {
    to.push(from.*member ? std::vector<M>(from.*member, from.*member + from.*count) : std::vector<M>());
  }
};
template <class S, class E>
struct Clones {
  const char *name;
  TClonesArray S::*member;
  using Values = Column<std::vector<E>>;
  void push(Values &to, const S &from) const { add(to, from.*member); }
  static void add(Values &to, const TClonesArray &from)
  {
    to.counts.push_back(from.GetEntriesFast());
    for (int k = 0; k < from.GetEntriesFast(); k++)
      to.items.push(*static_cast<const E *>(from.At(k)));
  }
};
template <class S, class M>
Plain<S, M> plain(const char *name, M S::*member) { return {name, member}; }

// The members of each class, bases first; a class is a record if it has this.
template <class S>
struct Members;

template <>
struct Members<Point> {
  static auto all() { return std::make_tuple(plain("x", &Point::x), plain("y", &Point::y), plain("z", &Point::z)); }
};
template <>
struct Members<Hit> {
  static auto all()
  {
    return std::make_tuple(plain("energy", &Hit::energy), plain("cell", &Hit::cell), plain("layer", &Hit::layer), plain("seed", &Hit::seed),
                           plain("time", &Hit::time), plain("detector", &Hit::detector), plain("samples", &Hit::samples));
  }
};
template <>
struct Members<Track> {
  static auto all()
  {
    return std::make_tuple(plain("pt", &Track::pt), plain("charge", &Track::charge), plain("cov", &Track::cov), plain("chi2", &Track::chi2),
                           plain("label", &Track::label), plain("nPoints", &Track::nPoints),
                           Counted<Track, short, int>{"points", &Track::points, &Track::nPoints});
  }
};
template <class A, class B>
struct Members<std::pair<A, B>> {
  using Pair = std::pair<A, B>;
  static auto all() { return std::make_tuple(plain("first", &Pair::first), plain("second", &Pair::second)); }
};
template <>
struct Members<Cluster> {
  static auto all()
  {
    return std::make_tuple(Plain<Cluster, int>{"run", &Cluster::run}, Plain<Cluster, ULong64_t>{"number", &Cluster::number},
                           plain("width", &Cluster::width), plain("depth", &Cluster::depth), plain("labels", &Cluster::labels));
  }
};
template <>
struct Members<Mixed> {
  static auto all()
  {
    return std::make_tuple(
      plain("byName", &Mixed::byName), plain("byNumber", &Mixed::byNumber), plain("texts", &Mixed::texts), plain("weights", &Mixed::weights),
      plain("numbers", &Mixed::numbers), plain("lines", &Mixed::lines), plain("doubles", &Mixed::doubles), plain("bits", &Mixed::bits),
      plain("three", &Mixed::three), plain("one", &Mixed::one), plain("pairs", &Mixed::pairs), plain("rows", &Mixed::rows),
      plain("clusters", &Mixed::clusters), plain("packed", &Mixed::packed), plain("fixed", &Mixed::fixed), plain("names", &Mixed::names),
      plain("lists", &Mixed::lists), plain("point", &Mixed::point), plain("track", &Mixed::track), plain("tracks", &Mixed::tracks),
      plain("n", &Mixed::n), Counted<Mixed, double, int>{"counted", &Mixed::counted, &Mixed::n}, plain("last", &Mixed::last));
  }
};
template <class T>
struct Members<std::complex<T>> {
  struct Part {
    const char *name;
    bool imaginary;
    using Values = Column<T>;
    void push(Values &to, const std::complex<T> &from) const { to.push(imaginary ? from.imag() : from.real()); }
  };
  static auto all() { return std::make_tuple(Part{"_real", false}, Part{"_imag", true}); }
};
template <>
struct Members<Nested> {
  static auto all()
  {
#define MEMBER(name, ...) std::make_tuple(plain(#name, &Nested::name)),
    return std::tuple_cat(NESTED(MEMBER) std::make_tuple());
#undef MEMBER
  }
};
template <>
struct Members<Ruled> {
  static auto all() { return std::make_tuple(plain("stored", &Ruled::stored), plain("text", &Ruled::text)); }
};
template <>
struct Members<Event> {
  static auto all()
  {
    return std::make_tuple(
      Plain<Event, int>{"run", &Event::run}, Plain<Event, ULong64_t>{"number", &Event::number}, plain("b", &Event::b), plain("c", &Event::c),
      plain("uc", &Event::uc), plain("s", &Event::s), plain("us", &Event::us), plain("i", &Event::i), plain("ui", &Event::ui),
      plain("l", &Event::l), plain("ul", &Event::ul), plain("ll", &Event::ll), plain("ull", &Event::ull), plain("f", &Event::f),
      plain("d", &Event::d), plain("f16", &Event::f16), plain("f16range", &Event::f16range), plain("d32", &Event::d32),
      plain("d32range", &Event::d32range), plain("vector3", &Event::vector3), plain("matrix", &Event::matrix), plain("flags", &Event::flags),
      plain("n", &Event::n), Counted<Event, float, int>{"counted", &Event::counted, &Event::n}, plain("text", &Event::text),
      plain("root", &Event::root), plain("ints", &Event::ints), plain("bools", &Event::bools), plain("words", &Event::words),
      plain("rows", &Event::rows), plain("bits", &Event::bits), plain("sentences", &Event::sentences), plain("vertex", &Event::vertex),
      plain("hits", &Event::hits), Clones<Event, Track>{"tracks", &Event::tracks}, plain("last", &Event::last));
  }
};

template <class... M>
struct Fields {
  std::tuple<M...> members;
  std::tuple<typename M::Values...> columns;
  explicit Fields(std::tuple<M...> m) : members(std::move(m)) {}

  template <class F>
  void each(F &&f)
  {
    std::apply([&](auto &...m) { std::apply([&](auto &...c) { (f(m, c), ...); }, columns); }, members);
  }
};
template <class S>
struct Column<S, std::void_t<decltype(Members<S>::all())>> {
  decltype(Fields(Members<S>::all())) fields{Members<S>::all()};
  std::uint64_t n = 0;

  static std::string type()
  {
    std::map<std::string, std::string> types;
    Column<S> one;
    one.fields.each([&](auto &m, auto &c) { types[m.name] = c.type(); });
    std::string out;
    for (auto &[name, type] : types)
      out += (out.empty() ? "{\"" : ", \"") + name + "\": " + type;
    return out + "}";
  }
  void push(const S &v)
  {
    fields.each([&](auto &m, auto &c) { m.push(c, v); });
    n++;
  }
  void emit(Stream &out) const
  {
    if (n == 0) {
      out += "Z\n";
      return;
    }
    std::map<std::string, Stream> streams;
    const_cast<Column *>(this)->fields.each([&](auto &m, auto &c) { c.emit(streams[m.name]); });
    out += "R " + std::to_string(n) + " " + std::to_string(streams.size()) + "\n";
    for (auto &[name, stream] : streams)
      out += "F \"" + name + "\"\n" + stream;
  }
};

// ---------------------------------------------------------------- reading
struct Answer {
  std::string type;
  Stream stream;
  unsigned long long address() const { return reinterpret_cast<unsigned long long>(stream.data()); }
  unsigned long long size() const { return stream.size(); }
};

template <class C>
Answer answer(const C &column, const std::string &type)
{
  Answer a{type, {}};
  column.emit(a.stream);
  return a;
}

// Reads one of the entries that the branch has, which need not be those of the tree.
inline void load(TBranch *branch, Long64_t k)
{
  if (branch->GetEntry(branch->GetFirstEntry() + k) < 0)
    throw std::runtime_error(std::string("cannot read ") + branch->GetName());
}

// All entries of a branch that holds objects of class T.
template <class T>
Answer readObject(TBranch *branch)
{
  T *object = nullptr;
  branch->SetAddress(&object);
  Column<T> column;
  for (Long64_t k = 0; k < branch->GetEntries(); k++) {
    load(branch, k);
    column.push(*object);
  }
  branch->ResetAddress();
  return answer(column, Column<T>::type());
}

template <class E>
Answer readClones(TBranch *branch)
{
  TClonesArray *objects = nullptr;
  branch->SetAddress(&objects);
  Column<std::vector<E>> column;
  for (Long64_t k = 0; k < branch->GetEntries(); k++) {
    load(branch, k);
    Clones<Event, E>::add(column, *objects);
  }
  branch->ResetAddress();
  return answer(column, column.type());
}

inline void nest(Stream &out, std::uint64_t n, const std::vector<int> &dims, std::size_t level, const Stream &flat)
{
  if (n == 0) {
    out += "Z\n";
  } else if (level == dims.size()) {
    out += flat;
  } else {
    out += line('L', n);
    lengths(out, std::vector<std::uint64_t>(n, dims[level]));
    nest(out, n * dims[level], dims, level + 1, flat);
  }
}

// Entries of a leaf, which has `dims` fixed dimensions and perhaps a counter in front of them.
template <class T>
Answer readLeaf(TLeaf *leaf, const std::vector<int> &dims)
{
  TBranch *branch = leaf->GetBranch();
  bool counted = leaf->GetLeafCount() != nullptr;
  int fixed = 1;
  for (int d : dims)
    fixed *= d;
  Column<T> values;
  std::vector<std::uint64_t> counts;
  for (Long64_t k = 0; k < branch->GetEntries(); k++) {
    load(branch, k);
    int length = leaf->GetLen();
    const T *from = static_cast<const T *>(leaf->GetValuePointer());
    counts.push_back(length / fixed);
    for (int j = 0; j < length; j++)
      values.push(from[j]);
  }
  Stream flat, inner;
  values.emit(flat);
  std::uint64_t items = 0;
  for (auto c : counts)
    items += c;
  std::string type = Column<T>::type();
  for (auto d = dims.rbegin(); d != dims.rend(); ++d)
    type = std::to_string(*d) + " * " + type;
  nest(inner, items, dims, 0, flat);
  if (!counted)
    return {type, inner};
  Stream out;
  if (counts.empty()) {
    out = "Z\n";
  } else {
    out = line('L', counts.size());
    lengths(out, counts);
    out += inner;
  }
  return {"var * " + type, out};
}

inline Answer readText(TLeaf *leaf)
{
  TBranch *branch = leaf->GetBranch();
  Strings column;
  for (Long64_t k = 0; k < branch->GetEntries(); k++) {
    load(branch, k);
    const char *text = static_cast<const char *>(leaf->GetValuePointer());
    column.add(text, std::strlen(text));
  }
  return answer(column, "string");
}

} // namespace walk

#endif
