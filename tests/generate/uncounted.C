// Writes uncounted.root: objects of CMS's classes of references, which their streamers write without a byte count: a
// version of two bytes, then the members. What C++ ROOT reads back goes to uncounted.root.values.json.
#include <TBuffer.h>
#include <TClass.h>
#include <TClassStreamer.h>
#include <TFile.h>
#include <TTree.h>

#include <fstream>
#include <sstream>
#include <type_traits>
#include <vector>

namespace edm {
struct RefCore {
  void *cachePtr_ = nullptr; //!
  unsigned short processIndex_ = 0;
  unsigned short productIndex_ = 0;
};
struct RefCoreWithIndex {
  void *cachePtr_ = nullptr; //!
  unsigned short processIndex_ = 0;
  unsigned short productIndex_ = 0;
  unsigned int elementIndex_ = 0;
};
} // namespace edm

struct Ref {
  edm::RefCore product_;
  unsigned int index_ = 0;
};

struct Track {
  float pt = 0;
  edm::RefCoreWithIndex ref;
  std::vector<edm::RefCore> refs;
  Ref other;
};

#ifdef __CLING__
#pragma link C++ options = version(11) class edm::RefCore+;
#pragma link C++ options = version(11) class edm::RefCoreWithIndex+;
#pragma link C++ class Ref+;
#pragma link C++ class Track+;
#pragma link C++ class std::vector<edm::RefCore>+;
#pragma link C++ class std::vector<Track>+;
#endif

// As the streamers that CMS registers with ROOT do it.
template <class T>
class Streamer : public TClassStreamer {
public:
  void operator()(TBuffer &buffer, void *object) override
  {
    TClass *cl = TClass::GetClass<T>();
    if (buffer.IsReading()) {
      cl->ReadBuffer(buffer, object);
      return;
    }
    T &of = *static_cast<T *>(object);
    buffer << cl->GetClassVersion();
    buffer << of.processIndex_ << of.productIndex_;
    if constexpr (std::is_same_v<T, edm::RefCoreWithIndex>)
      buffer << of.elementIndex_;
  }
  TClassStreamer *Generate() const override { return new Streamer(*this); }
};

edm::RefCore core(int i)
{
  edm::RefCore of;
  of.processIndex_ = 1 + i;
  of.productIndex_ = 40000 + i;
  return of;
}

Track track(int i)
{
  Track of;
  of.pt = i + 0.5f;
  of.ref.processIndex_ = 2 + i;
  // Looks like the beginning of a byte count.
  of.ref.productIndex_ = 0x4000 + i;
  of.ref.elementIndex_ = 70000 + i;
  for (int j = 0; j < i % 3; ++j)
    of.refs.push_back(core(10 * i + j));
  of.other.product_ = core(i);
  of.other.index_ = 7 * i;
  return of;
}

std::string json(const edm::RefCore &of)
{
  std::ostringstream out;
  out << "{\"processIndex_\": " << of.processIndex_ << ", \"productIndex_\": " << of.productIndex_ << "}";
  return out.str();
}

std::string json(const Ref &of)
{
  return "{\"product_\": " + json(of.product_) + ", \"index_\": " + std::to_string(of.index_) + "}";
}

template <class T>
std::string json(const std::vector<T> &of);

std::string json(const Track &of)
{
  std::ostringstream out;
  out << "{\"pt\": " << of.pt << ", \"ref\": {\"processIndex_\": " << of.ref.processIndex_
      << ", \"productIndex_\": " << of.ref.productIndex_ << ", \"elementIndex_\": " << of.ref.elementIndex_
      << "}, \"refs\": " << json(of.refs) << ", \"other\": " << json(of.other) << "}";
  return out.str();
}

template <class T>
std::string json(const std::vector<T> &of)
{
  std::string text = "[";
  for (auto &item : of)
    text += (text.size() > 1 ? ", " : "") + json(item);
  return text + "]";
}

void uncounted()
{
  TClass::GetClass<edm::RefCore>()->AdoptStreamer(new Streamer<edm::RefCore>);
  TClass::GetClass<edm::RefCoreWithIndex>()->AdoptStreamer(new Streamer<edm::RefCoreWithIndex>);
  const char *whole[] = {"core", "ref", "track", "tracks"};
  {
    TFile file("uncounted.root", "RECREATE", "", 0); // not compressed, for a test that renames a class
    edm::RefCore a;
    Ref b;
    Track c;
    std::vector<Track> d;
    TTree tree("tree", "");
    tree.Branch("core", &a, 32000, 0);
    tree.Branch("ref", &b, 32000, 0);
    tree.Branch("track", &c, 32000, 0);
    tree.Branch("tracks", &d, 32000, 0);
    tree.Branch("ref_split.", &b);
    tree.Branch("track_split.", &c);
    tree.Branch("tracks_split", &d);
    for (int i = 0; i < 11; ++i) {
      a = core(i);
      c = track(i);
      b = c.other;
      d.assign(i % 4, c);
      for (std::size_t j = 0; j < d.size(); ++j)
        d[j] = track(i + j);
      tree.Fill();
    }
    tree.Write();
    file.WriteObject(&c, "one");
    file.WriteObject(&d, "several");
  }
  TFile file("uncounted.root");
  edm::RefCore *a = nullptr;
  Ref *b = nullptr;
  Track *c = nullptr;
  std::vector<Track> *d = nullptr;
  auto tree = file.Get<TTree>("tree");
  tree->SetBranchAddress("core", &a);
  tree->SetBranchAddress("ref", &b);
  tree->SetBranchAddress("track", &c);
  tree->SetBranchAddress("tracks", &d);
  std::string columns[4];
  for (int i = 0; i < tree->GetEntries(); ++i) {
    tree->GetEntry(i);
    std::string values[] = {json(*a), json(*b), json(*c), json(*d)};
    for (int j = 0; j < 4; ++j)
      columns[j] += (i ? ", " : "") + values[j];
  }
  std::ofstream out("uncounted.root.values.json");
  out << "{";
  for (int j = 0; j < 4; ++j)
    out << "\"" << whole[j] << "\": [" << columns[j] << "],\n";
  out << "\"one\": " << json(*file.Get<Track>("one")) << ",\n";
  out << "\"several\": " << json(*file.Get<std::vector<Track>>("several")) << "}\n";
}
