// Objects in many shapes: writes shapes.root, and reads it entry by entry with C++ ROOT, with and without filling columns.
#include "../../tests/generate/classes.h"
#include <TBranch.h>
#include <TFile.h>
#include <TMD5.h>
#include <TRandom3.h>
#include <TTree.h>
#include <chrono>
#include <ctime>
#include <functional>

extern "C" int malloc_trim(size_t); // the header is more than the interpreter understands

// A class without containers of classes.
struct Plain {
  int number = 0;
  double weight = 0;
  std::string name;
  std::vector<float> values;
};

#ifdef __ROOTCLING__
#pragma link C++ class Plain+;
#pragma link C++ class std::vector<std::vector<float>>+;
#pragma link C++ class std::map<std::string, std::vector<float>>+;
#endif

namespace {

TRandom3 rng(1);

std::string word(int longest)
{
  return std::string(1 + rng.Integer(longest), 'a' + rng.Integer(26));
}

Hit hit()
{
  Hit h;
  h.energy = rng.Exp(3);
  h.cell[0] = rng.Integer(100);
  h.time = rng.Uniform(0, 100);
  h.detector = word(8);
  for (int k = rng.Integer(8); k > 0; k--)
    h.samples.push_back(rng.Gaus());
  return h;
}

} // namespace

void shapes(int entries)
{
  TFile file("shapes.root", "RECREATE", "", 0);
  TTree tree("tree", "objects");
  Event event, *pEvent = &event;
  std::vector<Hit> hits, *pHits = &hits;
  std::vector<Point> points, *pPoints = &points;
  TClonesArray tracks("Track"), *pTracks = &tracks;
  std::map<std::string, std::vector<Hit>> map, *pMap = &map;
  Point point, *pPoint = &point;
  Plain plain, *pPlain = &plain;
  std::vector<std::vector<float>> rows, *pRows = &rows;
  std::vector<std::string> words, *pWords = &words;
  std::map<std::string, std::vector<float>> table, *pTable = &table;
  tree.Branch("event", &pEvent, 64000, 0);
  tree.Branch("hits", &pHits, 64000, 0);
  tree.Branch("points", &pPoints, 64000, 0);
  tree.Branch("split", &pTracks, 64000, 99);
  tree.Branch("whole", &pTracks, 64000, 0);
  tree.Branch("map", &pMap, 64000, 0);
  tree.Branch("point", &pPoint, 64000, 0);
  tree.Branch("plain", &pPlain, 64000, 0);
  tree.Branch("rows", &pRows, 64000, 0);
  tree.Branch("words", &pWords, 64000, 0);
  tree.Branch("table", &pTable, 64000, 0);
  for (int entry = 0; entry < entries; entry++) {
    event.rows.clear(), event.sentences.clear(), event.hits.clear(), hits.clear(), points.clear(), map.clear();
    rows.clear(), words.clear(), table.clear();
    for (int k = rng.Integer(6); k > 0; k--) {
      event.rows.emplace_back(rng.Integer(8), rng.Gaus());
      event.sentences.emplace_back(rng.Integer(4), word(12));
      event.hits.push_back(hit());
      hits.push_back(hit());
      points.push_back({rng.Gaus(), rng.Gaus(), rng.Gaus()});
      map[word(10)].push_back(hit());
      rows.emplace_back(rng.Integer(8), rng.Gaus());
      words.push_back(word(12));
      table[word(10)].assign(rng.Integer(8), rng.Gaus());
    }
    event.text = word(30);
    point = {rng.Gaus(), rng.Gaus(), rng.Gaus()};
    plain = {entry, rng.Gaus(), word(12), std::vector<float>(rng.Integer(8), rng.Gaus())};
    tracks.Delete();
    for (int k = rng.Integer(6), j = 0; j < k; j++) {
      Track &t = *static_cast<Track *>(tracks.ConstructedAt(j));
      t.pt = rng.Exp(10);
      t.label = word(8).c_str();
      t.nPoints = 2;
      t.points = new short[2]{1, 2};
    }
    tree.Fill();
  }
  file.Write();
}

namespace {

// What a reader fills, in the order in which forthwith has its columns: of a list its offsets and then its items, of a text its offsets
// and then its bytes. The first entry's length is known before, and no buffer is ever too small.
struct Sink {
  virtual ~Sink() = default;
  virtual void reserve(size_t bytes) = 0;
  virtual void clear() = 0;
  virtual std::string sum() const = 0;
};

std::vector<Sink *> sinks;

template <typename T>
struct Items : Sink {
  std::vector<T> items;
  Items() { sinks.push_back(this); }
  void reserve(size_t bytes) override { items.reserve(bytes / sizeof(T) + 1); }
  void clear() override { items.clear(); }
  std::string sum() const override
  {
    TMD5 md5;
    auto *bytes = reinterpret_cast<const unsigned char *>(items.data());
    for (size_t at = 0, all = items.size() * sizeof(T); at < all; at += 1 << 30)
      md5.Update(bytes + at, std::min(all - at, size_t(1) << 30));
    md5.Final();
    return md5.AsString();
  }
  void fill(T item) { items.push_back(item); }
};

struct Offsets : Items<Long64_t> {
  void reserve(size_t bytes) override
  {
    Items<Long64_t>::reserve(2 * bytes);
    clear();
  }
  void clear() override { items.assign(1, 0); }
  void fill(size_t more) { items.push_back(items.back() + more); }
};

struct Text {
  Offsets offsets;
  Items<char> bytes;
  void fill(const char *begin, size_t size)
  {
    offsets.fill(size);
    bytes.items.insert(bytes.items.end(), begin, begin + size);
  }
  void fill(const std::string &text) { fill(text.data(), text.size()); }
  void fill(const TString &text) { fill(text.Data(), text.Length()); }
};

template <typename T>
struct List {
  Offsets offsets;
  Items<T> items;
  template <typename It>
  void fill(It begin, size_t size)
  {
    offsets.fill(size);
    items.items.insert(items.items.end(), begin, begin + size);
  }
  void fill(const std::vector<T> &list) { fill(list.begin(), list.size()); }
};

template <typename T, int N>
struct Fixed {
  Items<T> items;
  void fill(const T *begin) { items.items.insert(items.items.end(), begin, begin + N); }
};

struct Hits {
  Items<float> energy;
  Fixed<int, 2> cell;
  Items<UShort_t> layer;
  Items<char> seed;
  Items<double> time;
  Text detector;
  List<float> samples;
  void fill(const Hit &h)
  {
    energy.fill(h.energy), cell.fill(h.cell), layer.fill(h.layer), seed.fill(h.seed), time.fill(h.time);
    detector.fill(h.detector), samples.fill(h.samples);
  }
};

struct Points {
  Items<double> x, y, z;
  void fill(const Point &p) { x.fill(p.x), y.fill(p.y), z.fill(p.z); }
};

// What forthwith does not deliver either: the base of objects that are not divided.
struct Nothing {
  void fill(UInt_t) {}
};

template <bool Divided>
struct Tracks {
  std::conditional_t<Divided, Items<UInt_t>, Nothing> unique, bits;
  Items<float> pt;
  Items<short> charge;
  Fixed<double, 3> cov;
  Items<double> chi2;
  Text label;
  Items<int> nPoints;
  List<short> points;
  void fill(const Track &t)
  {
    // In memory the bits say besides that the object is on the heap and alive.
    unique.fill(t.GetUniqueID()), bits.fill(t.TestBits(~(TObject::kIsOnHeap | TObject::kNotDeleted)));
    pt.fill(t.pt), charge.fill(t.charge), cov.fill(t.cov), chi2.fill(t.chi2), label.fill(t.label);
    nPoints.fill(t.nPoints), points.fill(t.points, t.nPoints);
  }
};

struct Events {
  Items<int> run;
  Items<ULong64_t> number;
  Items<char> b, c;
  Items<unsigned char> uc;
  Items<short> s;
  Items<unsigned short> us;
  Items<int> i;
  Items<unsigned> ui;
  Items<Long64_t> l;
  Items<ULong64_t> ul;
  Items<Long64_t> ll;
  Items<ULong64_t> ull;
  Items<float> f;
  Items<double> d;
  Items<float> f16, f16range;
  Items<double> d32, d32range;
  Fixed<float, 3> vector3;
  Fixed<int, 6> matrix;
  Fixed<char, 4> flags;
  Items<int> n;
  List<float> counted;
  Text text, root;
  List<int> ints;
  Offsets bools;
  Items<char> boolItems;
  Offsets words;
  Text wordItems;
  Offsets rows;
  List<double> rowItems;
  Offsets bits, bitRows;
  Items<char> bitItems;
  Offsets sentences, sentenceWords;
  Text sentenceItems;
  Points vertex;
  Offsets hits;
  Hits hitItems;
  Offsets tracks;
  Tracks<false> trackItems;
  Items<int> last;
  void fill(const Event &e)
  {
    run.fill(e.run), number.fill(e.number), b.fill(e.b), c.fill(e.c), uc.fill(e.uc), s.fill(e.s), us.fill(e.us);
    i.fill(e.i), ui.fill(e.ui), l.fill(e.l), ul.fill(e.ul), ll.fill(e.ll), ull.fill(e.ull), f.fill(e.f), d.fill(e.d);
    f16.fill(e.f16), f16range.fill(e.f16range), d32.fill(e.d32), d32range.fill(e.d32range);
    vector3.fill(e.vector3), matrix.fill(e.matrix[0]);
    flags.fill(reinterpret_cast<const char *>(e.flags));
    n.fill(e.n), counted.fill(e.counted, e.n), text.fill(e.text), root.fill(e.root), ints.fill(e.ints);
    bools.fill(e.bools.size());
    for (bool one : e.bools)
      boolItems.fill(one);
    words.fill(e.words.size());
    for (auto &one : e.words)
      wordItems.fill(one);
    rows.fill(e.rows.size());
    for (auto &row : e.rows)
      rowItems.fill(row);
    bits.fill(e.bits.size());
    for (auto &row : e.bits) {
      bitRows.fill(row.size());
      for (bool one : row)
        bitItems.fill(one);
    }
    sentences.fill(e.sentences.size());
    for (auto &sentence : e.sentences) {
      sentenceWords.fill(sentence.size());
      for (auto &one : sentence)
        sentenceItems.fill(one);
    }
    vertex.fill(e.vertex);
    hits.fill(e.hits.size());
    for (auto &one : e.hits)
      hitItems.fill(one);
    tracks.fill(e.tracks.GetEntriesFast());
    for (int k = 0; k < e.tracks.GetEntriesFast(); k++)
      trackItems.fill(*static_cast<const Track *>(e.tracks.UncheckedAt(k)));
    last.fill(e.last);
  }
};

double cpuNow()
{
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

double wallNow()
{
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

enum How { OBJECTS, COLUMNS, AGAIN };

// One pass over a branch: milliseconds of processor and of wall, then the columns' sums if there are columns. AGAIN fills the buffers of the
// last time.
template <typename Object, typename Columns, typename Fill>
std::string pass(TTree *tree, const char *name, How how, Fill &&fill)
{
  static std::unique_ptr<Columns> kept;
  static std::vector<Sink *> keptSinks;
  const bool columns = how != OBJECTS, again = how == AGAIN && kept;
  sinks.clear();
  std::unique_ptr<Columns> filled = again ? std::move(kept) : std::make_unique<Columns>();
  if (again)
    sinks = keptSinks;
  Object *object = nullptr;
  TBranch *branch = tree->GetBranch(name);
  if (!branch)
    return "";
  tree->SetBranchAddress(name, &object);
  if (!again)
    malloc_trim(0); // what earlier passes have freed goes back to the system
  double cpu = cpuNow(), wall = wallNow();
  if (columns)
    for (Sink *sink : sinks)
      again ? sink->clear() : sink->reserve(branch->GetTotBytes("*"));
  for (Long64_t k = 0, all = tree->GetEntries(); k < all; k++) {
    branch->GetEntry(k);
    if (columns)
      fill(*filled, *object);
  }
  cpu = cpuNow() - cpu, wall = wallNow() - wall;
  tree->ResetBranchAddresses();
  TString line = TString::Format("%.3f %.3f", cpu, wall);
  if (columns)
    for (Sink *sink : sinks)
      line += " " + sink->sum();
  delete object;
  if (how == AGAIN)
    kept = std::move(filled), keptSinks = sinks;
  return line.Data();
}

template <typename Items>
struct Many {
  Offsets offsets;
  Items items;
};

struct Keyed {
  Offsets offsets;
  Text keys;
  Offsets lists;
  Hits hits;
};

struct Table {
  Offsets offsets;
  Text keys;
  List<float> lists;
};

struct Plains {
  Items<int> number;
  Items<double> weight;
  Text name;
  List<float> values;
};

template <typename C, typename V>
void each(C &columns, const V &values)
{
  columns.offsets.fill(values.size());
  for (auto &one : values)
    columns.items.fill(one);
}

} // namespace

// Reads a branch of shapes.root once.
std::string readShape(const char *name, int number)
{
  const How how = How(number);
  TFile file("shapes.root");
  TTree *tree = file.Get<TTree>("tree");
  std::string which = name;
  if (which == "event")
    return pass<Event, Events>(tree, name, how, [](auto &to, const Event &e) { to.fill(e); });
  if (which == "hits")
    return pass<std::vector<Hit>, Many<Hits>>(tree, name, how, [](auto &to, auto &list) { each(to, list); });
  if (which == "points")
    return pass<std::vector<Point>, Many<Points>>(tree, name, how, [](auto &to, auto &list) { each(to, list); });
  auto tracks = [](auto &to, const TClonesArray &list) {
    to.offsets.fill(list.GetEntriesFast());
    for (int k = 0; k < list.GetEntriesFast(); k++)
      to.items.fill(*static_cast<const Track *>(list.UncheckedAt(k)));
  };
  if (which == "split")
    return pass<TClonesArray, Many<Tracks<true>>>(tree, name, how, tracks);
  if (which == "whole")
    return pass<TClonesArray, Many<Tracks<false>>>(tree, name, how, tracks);
  if (which == "map")
    return pass<std::map<std::string, std::vector<Hit>>, Keyed>(tree, name, how, [](auto &to, auto &map) {
      to.offsets.fill(map.size());
      for (auto &[key, hits] : map) {
        to.keys.fill(key);
        to.lists.fill(hits.size());
        for (auto &one : hits)
          to.hits.fill(one);
      }
    });
  if (which == "point")
    return pass<Point, Points>(tree, name, how, [](auto &to, const Point &p) { to.fill(p); });
  if (which == "plain")
    return pass<Plain, Plains>(tree, name, how, [](auto &to, const Plain &p) {
      to.number.fill(p.number), to.weight.fill(p.weight), to.name.fill(p.name), to.values.fill(p.values);
    });
  if (which == "rows")
    return pass<std::vector<std::vector<float>>, Many<List<float>>>(
      tree, name, how, [](auto &to, auto &list) { each(to, list); });
  if (which == "words")
    return pass<std::vector<std::string>, Many<Text>>(tree, name, how, [](auto &to, auto &list) { each(to, list); });
  if (which == "table")
    return pass<std::map<std::string, std::vector<float>>, Table>(tree, name, how, [](auto &to, auto &map) {
      to.offsets.fill(map.size());
      for (auto &[key, list] : map)
        to.keys.fill(key), to.lists.fill(list);
    });
  return "";
}
