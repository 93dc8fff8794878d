// leaves.root: branches made of leaves. Every type of leaf alone, in fixed arrays, and with a counter of every
// integer type; packed floating-point numbers; several leaves in one branch; C strings.
#include <TFile.h>
#include <TRandom3.h>
#include <TString.h>
#include <TTree.h>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace {

TRandom3 rng(4357);
const int kEntries = 60;
const int kBasket = 600; // bytes, so that most branches have several baskets

// The values worth meeting first, and then any bits at all.
template <class T>
T value(int entry)
{
  using L = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return rng.Uniform() < 0.5;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T special[] = {0, T(-0.0), 1, -1, L::min(), L::denorm_min(), L::max(), L::lowest(), L::infinity(), -L::infinity(), L::quiet_NaN(), L::epsilon()};
    return entry < 12 ? special[entry] : T(rng.Gaus(0, std::pow(10.0, rng.Integer(20) - 10.0)));
  } else {
    const T special[] = {0, 1, L::min(), L::max(), T(-1)};
    if (entry < 5)
      return special[entry];
    ULong64_t bits = (ULong64_t(rng.Integer(0xffffffffu)) << 32) ^ rng.Integer(0xffffffffu);
    return static_cast<T>(bits);
  }
}

// One value, one to three fixed dimensions, and behind a counter, of one type.
template <class T>
struct Kinds {
  T scalar, vector[3], matrix[2][3], cube[2][1][4], jagged[8], pairs[8][2];

  void branch(TTree &fixed, TTree &counted, const TString &name, char code)
  {
    auto leaf = [&](TTree &tree, const char *suffix, void *address, const char *dims) {
      tree.Branch(name + suffix, address, name + suffix + dims + "/" + code, kBasket);
    };
    leaf(fixed, "", &scalar, "");
    leaf(fixed, "_3", vector, "[3]");
    leaf(fixed, "_2x3", matrix, "[2][3]");
    leaf(fixed, "_2x1x4", cube, "[2][1][4]");
    leaf(counted, "_n", jagged, "[n]");
    leaf(counted, "_nx2", pairs, "[n][2]");
  }
  void fill(int entry)
  {
    scalar = value<T>(entry);
    auto each = [&](T *from, int n) {
      for (int k = 0; k < n; k++)
        from[k] = value<T>(entry + k);
    };
    each(vector, 3);
    each(&matrix[0][0], 6);
    each(&cube[0][0][0], 8);
    each(jagged, 8);
    each(&pairs[0][0], 16);
  }
};

// x[n] and x[n][3] counted by a leaf of type C.
template <class C>
struct CountedBy {
  C n;
  float x[6];
  short y[6][3];

  void branch(TTree &tree, const TString &counter, char code)
  {
    tree.Branch("n" + counter, &n, "n" + counter + "/" + code, kBasket);
    tree.Branch("x" + counter, x, "x" + counter + "[n" + counter + "]/F", kBasket);
    tree.Branch("y" + counter, y, "y" + counter + "[n" + counter + "][3]/S", kBasket);
  }
  void fill()
  {
    n = static_cast<C>(rng.Uniform() < 0.3 ? 0 : rng.Integer(7));
    for (int k = 0; k < 6; k++) {
      x[k] = value<float>(k + 12);
      for (short &v : y[k])
        v = value<short>(k + 5);
    }
  }
};

void types(TFile &file)
{
  file.cd();
  TTree fixed("fixed", "each leaf type, alone and in fixed arrays"), counted("counted", "each leaf type, x[n] and x[n][2]");
  Kinds<char> b;
  Kinds<unsigned char> ub;
  Kinds<short> s;
  Kinds<unsigned short> us;
  Kinds<int> i;
  Kinds<unsigned int> ui;
  Kinds<Long64_t> l;
  Kinds<ULong64_t> ul;
  Kinds<Long_t> g;
  Kinds<ULong_t> ug;
  Kinds<float> f;
  Kinds<double> d;
  Kinds<bool> o;
  Int_t n;
  counted.Branch("n", &n, "n/I", kBasket);
  b.branch(fixed, counted, "int8", 'B');
  ub.branch(fixed, counted, "uint8", 'b');
  s.branch(fixed, counted, "int16", 'S');
  us.branch(fixed, counted, "uint16", 's');
  i.branch(fixed, counted, "int32", 'I');
  ui.branch(fixed, counted, "uint32", 'i');
  l.branch(fixed, counted, "int64", 'L');
  ul.branch(fixed, counted, "uint64", 'l');
  g.branch(fixed, counted, "long", 'G');
  ug.branch(fixed, counted, "ulong", 'g');
  f.branch(fixed, counted, "float32", 'F');
  d.branch(fixed, counted, "float64", 'D');
  o.branch(fixed, counted, "bool", 'O');
  for (int entry = 0; entry < kEntries; entry++) {
    n = entry % 7 == 0 ? 0 : rng.Integer(9);
    b.fill(entry), ub.fill(entry), s.fill(entry), us.fill(entry), i.fill(entry), ui.fill(entry), l.fill(entry);
    ul.fill(entry), g.fill(entry), ug.fill(entry), f.fill(entry), d.fill(entry), o.fill(entry);
    fixed.Fill();
    counted.Fill();
  }
  fixed.Write();
  counted.Write();
}

void counters(TFile &file)
{
  file.cd();
  TTree tree("counters", "x[n] and y[n][3] with a counter of each integer type");
  CountedBy<char> b;
  CountedBy<unsigned char> ub;
  CountedBy<short> s;
  CountedBy<unsigned short> us;
  CountedBy<int> i;
  CountedBy<unsigned int> ui;
  CountedBy<Long64_t> l;
  CountedBy<ULong64_t> ul;
  CountedBy<Long_t> g;
  b.branch(tree, "Char", 'B');
  ub.branch(tree, "UChar", 'b');
  s.branch(tree, "Short", 'S');
  us.branch(tree, "UShort", 's');
  i.branch(tree, "Int", 'I');
  ui.branch(tree, "UInt", 'i');
  l.branch(tree, "Long64", 'L');
  ul.branch(tree, "ULong64", 'l');
  g.branch(tree, "Long", 'G');
  for (int entry = 0; entry < 40; entry++) {
    b.fill(), ub.fill(), s.fill(), us.fill(), i.fill(), ui.fill(), l.fill(), ul.fill(), g.fill();
    tree.Fill();
  }
  tree.Write();
}

void packed(TFile &file)
{
  file.cd();
  TTree tree("packed", "Float16_t and Double32_t, with and without a range and a number of bits");
  const char *ranges[] = {"", "[0,10]", "[-1,1,8]", "[0,10,16]", "[-5,5,24]", "[0,10,31]", "[0,10,32]", "[0,0,3]", "[0,0,10]", "[0,0,14]", "[0,0,15]", "[0,0,16]", "[-pi,pi,12]", "[0,twopi,9]"};
  const int count = sizeof(ranges) / sizeof(*ranges);
  float f[count], f3[3], fn[5], flist[2];
  double d[count], d3[2][2], dn[5];
  int n;
  // In a name "r7" is the seventh of the list above; the title has the range itself.
  for (int k = 0; k < count; k++) {
    tree.Branch(TString::Format("f_r%d", k), &f[k], TString::Format("f_r%d/f%s", k, ranges[k]), kBasket);
    tree.Branch(TString::Format("d_r%d", k), &d[k], TString::Format("d_r%d/d%s", k, ranges[k]), kBasket);
  }
  tree.Branch("n", &n, "n/I", kBasket);
  tree.Branch("f_3", f3, "f_3[3]/f[-10,10,12]", kBasket);
  tree.Branch("d_2x2", d3, "d_2x2[2][2]/d[0,0,8]", kBasket);
  tree.Branch("f_n", fn, "f_n[n]/f", kBasket);
  tree.Branch("d_n", dn, "d_n[n]/d[-10,10,20]", kBasket);
  for (int entry = 0; entry < kEntries; entry++) {
    double u = entry == 0 ? 0 : entry == 1 ? 1 : rng.Uniform();
    for (int k = 0; k < count; k++) {
      // Inside the range if there is one, else of any size.
      double low = k == 2 ? -1 : k == 4 ? -5 : k == 12 ? -M_PI : 0, high = k == 2 ? 1 : k == 4 ? 5 : k == 12 ? M_PI : k == 13 ? 2 * M_PI : 10;
      bool range = (k >= 1 && k <= 6) || k >= 12;
      double v = range ? low + u * (high - low) : entry == 2 ? -0.0 : rng.Gaus(0, std::pow(10.0, rng.Integer(12) - 6.0));
      f[k] = v;
      d[k] = v;
    }
    n = rng.Integer(6);
    for (int k = 0; k < 5; k++) {
      fn[k] = rng.Gaus(0, 100);
      dn[k] = rng.Uniform(-10, 10);
      f3[k % 3] = rng.Uniform(-10, 10);
      (&d3[0][0])[k % 4] = rng.Gaus(0, 7);
    }
    tree.Fill();
  }
  tree.Write();
}

// Several leaves in a branch are stored one after the other without padding.
#pragma pack(push, 1)
struct Mixed {
  Char_t c;
  Int_t i;
  Bool_t o;
  Double_t d;
  Short_t s[3];
  Float_t f[2][2];
};
struct Ends {
  Int_t n;
  Float_t x[4];
};
#pragma pack(pop)
struct Same {
  Float_t x, y, z;
};

void lists(TFile &file)
{
  file.cd();
  TTree tree("lists", "several leaves in one branch");
  Mixed mixed;
  Ends ends;
  Same same;
  tree.Branch("mixed", &mixed, "c/B:i/I:o/O:d/D:s[3]/S:f[2][2]/F", kBasket);
  tree.Branch("same", &same, "x/F:y:z", kBasket);
  tree.Branch("ends", &ends, "n/I:x[n]/F", kBasket);
  for (int entry = 0; entry < kEntries; entry++) {
    mixed.c = entry - 30;
    mixed.i = value<int>(entry);
    mixed.o = entry % 3 == 0;
    mixed.d = value<double>(entry);
    for (auto &v : mixed.s)
      v = value<short>(entry);
    for (auto &row : mixed.f)
      for (auto &v : row)
        v = rng.Uniform();
    same = {float(rng.Gaus()), float(rng.Gaus()), float(rng.Gaus())};
    ends.n = entry % 5;
    for (auto &v : ends.x)
      v = rng.Uniform();
    tree.Fill();
  }
  tree.Write();
}

// C strings: empty, one letter, at and around the length from which four bytes hold it, and not only ASCII.
void strings(TFile &file)
{
  file.cd();
  TTree tree("strings", "char* strings");
  Char_t text[2000], name[40], letters[8], never[4] = "";
  tree.Branch("text", text, "text/C", kBasket);
  tree.Branch("short", name, "short/C", kBasket);
  tree.Branch("chars", letters, "chars[8]/B", kBasket); // numbers, in spite of its looks
  tree.Branch("empty", never, "empty/C", kBasket);
  const int sizes[] = {0, 1, 253, 254, 255, 256, 257, 0, 0, 1000, 511, 512, 3};
  for (int entry = 0; entry < kEntries; entry++) {
    int size = entry < 13 ? sizes[entry] : rng.Integer(40);
    for (int k = 0; k < size; k++)
      text[k] = 'a' + rng.Integer(26);
    text[size] = 0;
    strcpy(name, entry % 4 == 0 ? "" : entry % 4 == 1 ? "\xc3\xa9t\xc3\xa9 \xe2\x82\xac" : TString::Format("entry %d", entry).Data());
    for (auto &v : letters)
      v = 'A' + rng.Integer(26);
    tree.Fill();
  }
  tree.Write();
}

} // namespace

void leaves()
{
  TFile file("leaves.root", "RECREATE", "", 505);
  types(file);
  counters(file);
  packed(file);
  lists(file);
  strings(file);
}
