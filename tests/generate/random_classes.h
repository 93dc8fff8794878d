// What random_classes.py compiles its classes with: values of any type are made and told as JSON, written to files, and read back with C++
// ROOT. Float numbers have a point in JSON, whole ones none. Items without an order are {"~": [...]}, pairs {"^": [first, second]}.
#ifndef GENERATE_RANDOM_CLASSES_H
#define GENERATE_RANDOM_CLASSES_H

#include <ROOT/RVec.hxx>
#include <TBranch.h>
#include <TClass.h>
#include <TClonesArray.h>
#include <TFile.h>
#include <TList.h>
#include <TMath.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TRef.h>
#include <TROOT.h>
#include <TString.h>
#include <TTree.h>
#include <TVector3.h>
#include <TVirtualStreamerInfo.h>
#include <array>
#include <cmath>
#include <bitset>
#include <complex>
#include <cstring>
#include <deque>
#include <forward_list>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace rnd {

inline std::mt19937_64 engine;
inline int depth = 0;     // of containers and objects within each other
inline unsigned round = 0; // pointers of one entry may be equal, those of two never

inline unsigned below(unsigned n) { return engine() % n; }
inline bool often(double share) { return (engine() >> 11) * 0x1p-53 < share; }
inline double real(double from, double to) { return from + (to - from) * ((engine() >> 11) * 0x1p-53); }
inline unsigned times()
{
  if (depth > 5 || often(0.25))
    return often(0.8) || depth > 7 ? 0 : 1;
  if (depth <= 1 && often(0.02))
    return 200;
  return 1 + below(depth > 3 ? 2 : 4);
}
struct Deeper {
  Deeper() { depth++; }
  ~Deeper() { depth--; }
};

inline void text(const std::string &v, std::string &out)
{
  out += '"';
  for (unsigned char c : v) {
    char code[8];
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c < 32)
      snprintf(code, sizeof code, "\\u%04x", c), out += code;
    else
      out += c;
  }
  out += '"';
}
// No zeros: ROOT ends texts of containers there.
inline std::string word()
{
  static const char *letters[] = {"a", "Z", "0", " ", "\"", "\\", "\n", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "/", ";"};
  std::string out;
  for (unsigned k = often(0.04) ? 245 + below(20) : below(6); k-- > 0;)
    out += letters[below(12)];
  return out;
}

template <class T, class = void>
struct IO;
template <class T>
void make(T &v)
{
  IO<T>::make(v);
}
template <class T>
void tell(const T &v, std::string &out)
{
  IO<T>::tell(v, out);
}
// A new object; of a base, perhaps of a class derived from it.
template <class T>
struct New {
  static T *make()
  {
    auto made = new T;
    rnd::make(*made);
    return made;
  }
};

template <class T>
struct IO<T, std::enable_if_t<std::is_integral_v<T>>> {
  static void make(T &v)
  {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>)
      v = often(0.5);
    else
      v = often(0.1) ? limits::max() : often(0.1) ? limits::min() : often(0.5) ? T(engine()) : T(below(7));
  }
  static void tell(T v, std::string &out)
  {
    if constexpr (std::is_same_v<T, bool>)
      out += v ? "true" : "false";
    else
      out += std::to_string(v);
  }
};
template <class T>
struct IO<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static void make(T &v)
  {
    using limits = std::numeric_limits<T>;
    static const T corners[] = {T(0), T(-0.), limits::infinity(), -limits::infinity(), limits::quiet_NaN(), limits::max(), limits::lowest(), limits::denorm_min(), limits::min()};
    v = often(0.15) ? corners[below(9)] : often(0.2) ? T(real(-1, 1) * std::pow(10., real(-30, 30))) : T(real(-100, 100));
  }
  static void tell(T v, std::string &out)
  {
    char told[40];
    snprintf(told, sizeof told, "%.17g", double(v));
    out += v != v ? "NaN" : v == T(INFINITY) ? "Infinity" : v == T(-INFINITY) ? "-Infinity" : told;
    if (std::isfinite(v) && !strpbrk(told, ".e"))
      out += ".0";
  }
};
template <class T>
struct Named; // the values of an enum
template <class T>
struct IO<T, std::enable_if_t<std::is_enum_v<T>>> {
  static void make(T &v) { v = Named<T>::values[below(3)]; }
  static void tell(T v, std::string &out) { out += std::to_string((long long)v); }
};
template <>
struct IO<std::string> {
  static void make(std::string &v) { v = word(); }
  static void tell(const std::string &v, std::string &out) { text(v, out); }
};
template <>
struct IO<TString> {
  static void make(TString &v)
  {
    auto made = word();
    v = TString(made.data(), made.size());
  }
  static void tell(const TString &v, std::string &out) { text({v.Data(), size_t(v.Length())}, out); }
};
template <>
struct IO<char *> {
  static void make(char *&v) { v = often(0.2) ? nullptr : strdup(word().c_str()); }
  static void tell(const char *v, std::string &out) { text(v ? v : "", out); }
};
template <class C>
void items(const C &v, std::string &out)
{
  bool first = true;
  out += '[';
  for (const auto &item : v) {
    out += first ? "" : ",", first = false;
    rnd::tell<std::decay_t<decltype(item)>>(item, out);
  }
  out += ']';
}
template <class C>
struct Items {
  static void tell(const C &v, std::string &out) { items(v, out); }
};
template <class C, class T>
auto add(C &v, T &item, int) -> decltype(v.push_back(std::move(item)), void())
{
  v.push_back(std::move(item));
}
template <class T>
void add(std::forward_list<T> &v, T &item, int)
{
  v.push_front(std::move(item));
}
template <class C, class T>
void add(C &v, T &item, long)
{
  v.insert(std::move(item));
}
template <class C>
struct Appended : Items<C> {
  static void make(C &v)
  {
    Deeper deeper;
    v.clear();
    for (unsigned k = times(); k-- > 0;) {
      typename C::value_type item{};
      rnd::make(item);
      add(v, item, 0);
    }
  }
};
template <class C>
struct Unordered : Appended<C> {
  static void tell(const C &v, std::string &out) { out += "{\"~\":", items(v, out), out += '}'; }
};
template <class C>
struct Mapped : Items<C> {
  static void make(C &v)
  {
    Deeper deeper;
    v.clear();
    for (unsigned k = times(); k-- > 0;) {
      typename C::key_type key{};
      typename C::mapped_type value{};
      rnd::make(key), rnd::make(value);
      v.emplace(std::move(key), std::move(value));
    }
  }
};
template <class C>
struct UnorderedMapped : Mapped<C> {
  static void tell(const C &v, std::string &out) { out += "{\"~\":", items(v, out), out += '}'; }
};
template <class T> struct IO<std::vector<T>> : Appended<std::vector<T>> {};
template <class T> struct IO<std::list<T>> : Appended<std::list<T>> {};
template <class T> struct IO<std::deque<T>> : Appended<std::deque<T>> {};
template <class T> struct IO<std::forward_list<T>> : Appended<std::forward_list<T>> {};
template <class T> struct IO<ROOT::VecOps::RVec<T>> : Appended<ROOT::VecOps::RVec<T>> {};
template <class T> struct IO<std::set<T>> : Appended<std::set<T>> {};
template <class T> struct IO<std::multiset<T>> : Appended<std::multiset<T>> {};
template <class T> struct IO<std::unordered_set<T>> : Unordered<std::unordered_set<T>> {};
template <class T> struct IO<std::unordered_multiset<T>> : Unordered<std::unordered_multiset<T>> {};
template <class K, class V> struct IO<std::map<K, V>> : Mapped<std::map<K, V>> {};
template <class K, class V> struct IO<std::multimap<K, V>> : Mapped<std::multimap<K, V>> {};
template <class K, class V> struct IO<std::unordered_map<K, V>> : UnorderedMapped<std::unordered_map<K, V>> {};
template <class K, class V> struct IO<std::unordered_multimap<K, V>> : UnorderedMapped<std::unordered_multimap<K, V>> {};
template <class T, size_t N>
struct IO<T[N]> {
  static void make(T (&v)[N])
  {
    for (auto &item : v)
      rnd::make(item);
  }
  static void tell(const T (&v)[N], std::string &out)
  {
    out += '[';
    for (size_t k = 0; k < N; k++)
      out += k ? "," : "", rnd::tell<T>(v[k], out);
    out += ']';
  }
};
template <class T, size_t N>
struct IO<std::array<T, N>> : Items<std::array<T, N>> {
  static void make(std::array<T, N> &v)
  {
    for (auto &item : v)
      rnd::make(item);
  }
};
template <size_t N>
struct IO<std::bitset<N>> {
  static void make(std::bitset<N> &v)
  {
    for (size_t k = 0; k < N; k++)
      v[k] = often(0.5);
  }
  static void tell(const std::bitset<N> &v, std::string &out)
  {
    out += '[';
    for (size_t k = 0; k < N; k++)
      out += k ? "," : "", out += v[k] ? "true" : "false";
    out += ']';
  }
};
template <class A, class B>
struct IO<std::pair<A, B>> {
  static void make(std::pair<A, B> &v) { rnd::make(const_cast<std::remove_const_t<A> &>(v.first)), rnd::make(v.second); }
  static void tell(const std::pair<A, B> &v, std::string &out)
  {
    out += "{\"^\":[", rnd::tell<std::remove_const_t<A>>(v.first, out), out += ',', rnd::tell<B>(v.second, out), out += "]}";
  }
};
template <class T>
struct IO<std::complex<T>> {
  static void make(std::complex<T> &v) { v = {T(real(-9, 9)), T(real(-9, 9))}; }
  static void tell(const std::complex<T> &v, std::string &out)
  {
    out += "{\"_real\":", rnd::tell<T>(v.real(), out), out += ",\"_imag\":", rnd::tell<T>(v.imag(), out), out += '}';
  }
};
template <class T>
struct IO<std::unique_ptr<T>> {
  static void make(std::unique_ptr<T> &v)
  {
    Deeper deeper;
    v.reset(often(0.3) || depth > 6 ? nullptr : New<T>::make());
  }
  static void tell(const std::unique_ptr<T> &v, std::string &out) { rnd::tell<T *>(v.get(), out); }
};
template <class T, class = void>
struct Virtual : std::false_type {};
template <class T>
struct Virtual<T, std::void_t<decltype(std::declval<const T &>().told(std::declval<std::string &>()))>> : std::true_type {};
// Null, new, or what another pointer leads to. Nothing is ever given back.
template <class T>
struct IO<T *> {
  static void make(T *&v)
  {
    static std::vector<T *> known;
    static unsigned of = 0;
    Deeper deeper;
    if (of != round)
      known.clear(), of = round;
    if (often(0.25) || depth > 7)
      v = nullptr;
    else if (!known.empty() && often(0.3))
      v = known[below(known.size())];
    else
      known.push_back(v = New<T>::make());
  }
  static void tell(const T *v, std::string &out)
  {
    if (!v)
      out += "null";
    else if constexpr (Virtual<T>::value)
      v->told(out);
    else
      rnd::tell<T>(*v, out);
  }
};
template <class T>
T *counted(int n)
{
  // ROOT writes null for objects, and reads what stands behind it.
  if (n == 0 || (std::is_arithmetic_v<T> && often(0.1)))
    return nullptr;
  auto made = new T[n]();
  for (int k = 0; k < n; k++)
    rnd::make(made[k]);
  return made;
}
template <class T>
void told(const T *v, int n, std::string &out)
{
  out += '[';
  for (int k = 0; v && k < n; k++)
    out += k ? "," : "", rnd::tell<T>(v[k], out);
  out += ']';
}

// Arrays of such, of any dimensions.
template <class T, class A>
void manyTold(const A &v, int n, std::string &out)
{
  if constexpr (std::is_array_v<A>) {
    bool first = true;
    out += '[';
    for (auto &item : v)
      out += first ? "" : ",", first = false, manyTold<T>(item, n, out);
    out += ']';
  } else
    told<T>(v, n, out);
}

} // namespace rnd
#endif
