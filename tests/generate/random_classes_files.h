// The files of random_classes.py: how ROOT's own classes are made and told, branches and keys of any type written, and read back.
#ifndef GENERATE_RANDOM_CLASSES_FILES_H
#define GENERATE_RANDOM_CLASSES_FILES_H

#include "random_classes.h"

namespace rnd {

// Of classes derived from TObject: random_classes.py knows them.
void makeObject(TObject &v);
void tellObject(const TObject &v, std::string &out);
TObject *newObject();

template <>
struct IO<TObject *> {
  static void make(TObject *&v) { v = often(0.25) ? nullptr : newObject(); }
  static void tell(const TObject *v, std::string &out) { v ? tellObject(*v, out) : void(out += "null"); }
};
template <>
struct IO<TNamed> {
  static void make(TNamed &v)
  {
    std::string name = word(), title = word();
    v.SetNameTitle(name.c_str(), title.c_str());
  }
  static void members(const TNamed &v, std::string &out)
  {
    out += "\"fName\":", text(v.GetName(), out), out += ",\"fTitle\":", text(v.GetTitle(), out), out += ',';
  }
  static void tell(const TNamed &v, std::string &out) { out += '{', members(v, out), out.back() = '}'; }
};
template <>
struct IO<TObjString> {
  static void make(TObjString &v) { v.SetString(word().c_str()); }
  static void tell(const TObjString &v, std::string &out) { out += "{\"fString\":", text(v.GetName(), out), out += '}'; }
};
template <>
struct IO<TVector3> {
  static void make(TVector3 &v) { v.SetXYZ(real(-1, 1), real(-1, 1), below(4)); }
  static void tell(const TVector3 &v, std::string &out)
  {
    out += "{\"fX\":", rnd::tell(v.X(), out), out += ",\"fY\":", rnd::tell(v.Y(), out), out += ",\"fZ\":", rnd::tell(v.Z(), out), out += '}';
  }
};
template <>
struct IO<TRef> {
  static void make(TRef &v)
  {
    static TNamed *one = new TNamed("a", ""), *other = new TNamed("b", "");
    v = often(0.2) ? nullptr : often(0.5) ? one : other;
  }
  static void tell(const TRef &v, std::string &out) { out += "{\"ref\":" + std::to_string(v.GetUniqueID()) + '}'; }
};
template <>
struct IO<TClonesArray> {
  static void make(TClonesArray &v)
  {
    Deeper deeper;
    v.Delete();
    const unsigned n = times();
    for (unsigned k = 0; k < n; k++)
      makeObject(*v.ConstructedAt(k));
  }
  static void tell(const TClonesArray &v, std::string &out)
  {
    out += '[';
    for (int k = 0; k < v.GetEntriesFast(); k++)
      out += k ? "," : "", rnd::tell<TObject *>(v.UncheckedAt(k), out);
    out += ']';
  }
};
template <>
struct IO<TObjArray> {
  static void make(TObjArray &v)
  {
    Deeper deeper;
    v.Clear();
    for (unsigned k = times(); k-- > 0;)
      v.Add(newObject());
  }
  static void tell(const TObjArray &v, std::string &out)
  {
    out += '[';
    for (int k = 0; k < v.GetEntriesFast(); k++)
      out += k ? "," : "", rnd::tell<TObject *>(v.UncheckedAt(k), out);
    out += ']';
  }
};
template <>
struct IO<TList> {
  static void make(TList &v)
  {
    Deeper deeper;
    v.Clear();
    for (unsigned k = times(); k-- > 0;)
      v.Add(newObject());
  }
  static void tell(const TList &v, std::string &out)
  {
    bool first = true;
    out += '[';
    for (auto item : v)
      out += first ? "" : ",", first = false, rnd::tell<TObject *>(item, out);
    out += ']';
  }
};
template <class T>
void ranged(T &v, double from, double to)
{
  if constexpr (std::is_array_v<T>)
    for (auto &item : v)
      ranged(item, from, to);
  else
    v = often(0.1) ? from : often(0.1) ? to : often(0.05) ? from - 1 : often(0.05) ? to + 1 : real(from, to);
}
template <class T>
T *countedRanged(int n, double from, double to)
{
  T *made = n ? new T[n] : nullptr;
  for (int k = 0; k < n; k++)
    ranged(made[k], from, to);
  return made;
}

// A type that branches and keys are of.
struct Held {
  virtual ~Held() {}
  virtual void branch(TTree &tree, const char *name, int size, int level) = 0;
  virtual void next() = 0;
  virtual void told(std::string &out) const = 0;
  virtual void key(TFile &file, const char *name) = 0;
  virtual void read(TBranch &branch, std::string &out) = 0;
  virtual void readKey(TFile &file, const char *name, std::string &out) = 0;
};
template <class T>
struct HeldOf : Held {
  std::string type, item;
  T *object = nullptr;
  TBranch *to = nullptr;
  HeldOf(const char *type, const char *item = "") : type(type), item(item) {}
  T *fresh()
  {
    if constexpr (std::is_same_v<T, TClonesArray>)
      return new TClonesArray(item.c_str());
    else
      return new T();
  }
  void branch(TTree &tree, const char *name, int size, int level) override
  {
    object = fresh();
    to = tree.Branch(name, type.c_str(), &object, size, level);
    if (!to)
      throw std::runtime_error("no branch of " + type);
  }
  void next() override
  {
    round++;
    object = fresh();
    make(*object);
    if (to)
      to->SetAddress(&object);
  }
  void told(std::string &out) const override { tell(*object, out); }
  void key(TFile &file, const char *name) override { file.WriteObjectAny(object, type.c_str(), name); }
  void read(TBranch &branch, std::string &out) override
  {
    for (Long64_t k = 0; k < branch.GetEntries(); k++) {
      T *object = fresh();
      branch.SetAddress(&object);
      if (branch.GetEntry(k) < 0)
        throw std::runtime_error("cannot be read");
      out += k ? "," : "", tell(*object, out);
    }
  }
  void readKey(TFile &file, const char *name, std::string &out) override
  {
    auto object = static_cast<T *>(file.GetObjectChecked(name, type.c_str()));
    if (!object)
      throw std::runtime_error("cannot be read");
    tell(*object, out);
  }
};
Held *held(int type);

// A file with a tree `t`.
struct Writer {
  TFile file;
  TTree *tree;
  std::vector<Held *> all;
  std::vector<std::string> values;
  Writer(const char *path, int compression, bool together, int flush, unsigned long seed) : file(path, "RECREATE", "", compression)
  {
    engine.seed(seed);
    TVirtualStreamerInfo::SetStreamMemberWise(together);
    tree = new TTree("t", "random");
    tree->SetAutoFlush(flush);
  }
  void branch(int type, const char *name, int size, int level)
  {
    all.push_back(held(type)), values.emplace_back();
    all.back()->branch(*tree, name, size, level);
  }
  void fill(int entries)
  {
    for (int entry = 0; entry < entries; entry++) {
      for (size_t k = 0; k < all.size(); k++)
        all[k]->next(), values[k] += entry ? "," : "", all[k]->told(values[k]);
      tree->Fill();
    }
  }
  std::string value(int k) { return '[' + values[k] + ']'; }
  std::string key(int type, const char *name)
  {
    std::string out;
    auto one = held(type);
    one->next(), one->told(out), one->key(file, name);
    return out;
  }
  void close()
  {
    file.Write();
    file.Close();
  }
};
inline std::string readBranch(const char *path, int type, const char *name)
{
  TFile file(path);
  std::string out = "[";
  held(type)->read(*file.Get<TTree>("t")->GetBranch(name), out);
  return out + ']';
}
inline std::string readKey(const char *path, int type, const char *name)
{
  TFile file(path);
  std::string out;
  held(type)->readKey(file, name, out);
  return out;
}

} // namespace rnd
#endif
