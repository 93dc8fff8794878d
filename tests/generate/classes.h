// The classes whose objects the generated files hold. make.py compiles them, with dictionaries, before it
// runs a generator, as the library of an experiment would be loaded; goldens.py does so to read them back.
#ifndef GENERATE_CLASSES_H
#define GENERATE_CLASSES_H

#include <ROOT/RVec.hxx>
#include <Rtypes.h>
#include <TClonesArray.h>
#include <TList.h>
#include <TObjArray.h>
#include <TObject.h>
#include <TString.h>
#include <array>
#include <bitset>
#include <complex>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

struct Point {
  double x = 0, y = 0, z = 0;
};

// An element of a std::vector: its members become columns of lists (branch type 41).
struct Hit {
  float energy = 0;
  int cell[2] = {0, 0};
  UShort_t layer = 0;
  bool seed = false;
  Double32_t time = 0; //[0,100,16]
  std::string detector;
  std::vector<float> samples;
};

// An element of a TClonesArray (branch type 31).
class Track : public TObject {
public:
  float pt = 0;
  short charge = 0;
  double cov[3] = {0, 0, 0};
  Double32_t chi2 = 0; //[0,50,12]
  TString label;
  int nPoints = 0;
  short *points = nullptr; //[nPoints]

  ~Track() override { delete[] points; }
  ClassDefOverride(Track, 1)
};

struct Header {
  int run = 0;
  ULong64_t number = 0;
};

// One member of each kind that a class may have.
struct Event : public Header {
  bool b = false;
  char c = 0;
  unsigned char uc = 0;
  short s = 0;
  unsigned short us = 0;
  int i = 0;
  unsigned int ui = 0;
  long l = 0;
  unsigned long ul = 0;
  Long64_t ll = 0;
  ULong64_t ull = 0;
  float f = 0;
  double d = 0;
  Float16_t f16 = 0;       //
  Float16_t f16range = 0;  //[-1,1,10]
  Double32_t d32 = 0;      //
  Double32_t d32range = 0; //[-pi,pi,20]
  float vector3[3] = {0, 0, 0};
  int matrix[2][3] = {{0, 0, 0}, {0, 0, 0}};
  bool flags[4] = {false, false, false, false};
  int n = 0;
  float *counted = nullptr; //[n]
  std::string text;
  TString root;
  std::vector<int> ints;
  std::vector<bool> bools;
  std::vector<std::string> words;
  std::vector<std::vector<double>> rows;
  std::vector<std::vector<bool>> bits;
  std::vector<std::vector<std::string>> sentences;
  Point vertex;
  std::vector<Hit> hits;
  TClonesArray tracks{"Track"};
  int last = 0; // reading goes wrong before this if any size above is wrong

  ~Event() { delete[] counted; }
};

// A class whose base is stored with it, and without frames of its own where items are stored member by member.
struct Cluster : public Header {
  Double32_t width = 0; //[0,0,9]
  Float16_t depth = 0;  //[0,8,7]
  std::vector<std::string> labels;
};

// Containers and pointers in a class that is not divided into branches.
struct Mixed {
  std::map<std::string, std::vector<Hit>> byName;
  std::map<int, Point> byNumber;
  std::multimap<int, std::string> texts;
  std::unordered_map<std::string, float> weights;
  std::set<int> numbers;
  std::list<std::string> lines;
  std::deque<double> doubles;
  std::bitset<10> bits;
  std::array<float, 3> three{{0, 0, 0}};
  std::pair<int, std::string> one;
  std::vector<std::pair<int, float>> pairs;
  std::vector<std::vector<Point>> rows;
  std::vector<Cluster> clusters;
  std::list<Double32_t> packed;
  Hit fixed[2];
  TString names[3];
  std::vector<int> lists[2];
  Point *point = nullptr;
  Track *track = nullptr;
  std::vector<Track *> tracks; // some of them null
  int n = 0;
  Double32_t *counted = nullptr; //[n]
  int last = 0;

  Mixed() = default;
  Mixed(const Mixed &) = delete;
  Mixed &operator=(const Mixed &) = delete;
  ~Mixed()
  {
    delete point;
    delete track;
    for (Track *t : tracks)
      delete t;
    delete[] counted;
  }
};

// Containers in containers: name, type. Of those without an order only one item is ever stored.
#define NESTED(X)                                                                                                     \
  X(hitOf, std::map<int, Hit>)                                                                                         \
  X(hitsOf, std::map<std::string, std::vector<Hit>>)                                                                   \
  X(tables, std::map<std::string, std::map<int, float>>)                                                               \
  X(maps, std::vector<std::map<std::string, int>>)                                                                     \
  X(deep, std::map<int, std::vector<std::map<int, std::string>>>)                                                      \
  X(points, std::multimap<std::string, Point>)                                                                         \
  X(words, std::set<std::string>)                                                                                      \
  X(bag, std::multiset<int>)                                                                                           \
  X(loose, std::unordered_set<int>)                                                                                    \
  X(looseBag, std::unordered_multiset<std::string>)                                                                    \
  X(looseMap, std::unordered_multimap<int, std::vector<int>>)                                                          \
  X(chain, std::forward_list<int>)                                                                                     \
  X(lists, std::list<std::vector<int>>)                                                                                \
  X(ofLists, std::vector<std::list<float>>)                                                                            \
  X(ofSets, std::vector<std::set<int>>)                                                                                \
  X(ofDeques, std::deque<std::deque<std::string>>)                                                                     \
  X(setOfRows, std::set<std::vector<int>>)                                                                             \
  X(listed, std::list<Point>)                                                                                          \
  X(queued, std::deque<Hit>)                                                                                           \
  X(cube, std::vector<std::vector<std::vector<Point>>>)                                                                \
  X(numbers, ROOT::VecOps::RVec<float>)                                                                                \
  X(rowsOfNumbers, std::vector<ROOT::VecOps::RVec<int>>)                                                               \
  X(numbersOfRows, ROOT::VecOps::RVec<std::vector<double>>)                                                            \
  X(objects, ROOT::VecOps::RVec<Point>)                                                                                \
  X(three, std::array<int, 3>)                                                                                         \
  X(pointsOfTwo, std::array<Point, 2>)                                                                                 \
  X(rowsOfTwo, std::array<std::vector<int>, 2>)                                                                        \
  X(pairOfRows, std::pair<int, std::vector<float>>)                                                                    \
  X(pairOfPoint, std::pair<Point, std::string>)                                                                        \
  X(byPair, std::map<std::pair<int, int>, float>)                                                                      \
  X(pairsOf, std::map<int, std::pair<std::string, Point>>)                                                             \
  X(pairs, std::vector<std::pair<std::string, std::vector<int>>>)                                                      \
  X(flags, std::bitset<5>)                                                                                             \
  X(ofFlags, std::vector<std::bitset<12>>)                                                                             \
  X(one, std::unique_ptr<Point>)                                                                                       \
  X(several, std::vector<std::unique_ptr<Point>>)                                                                      \
  X(byKey, std::map<int, Point *>)                                                                                     \
  X(packedOf, std::map<int, Double32_t>)                                                                               \
  X(texts, std::map<TString, TString>)                                                                                 \
  X(complex, std::complex<double>)                                                                                     \
  X(last, int)

struct Nested {
#define MEMBER(name, ...) __VA_ARGS__ name;
  NESTED(MEMBER)
#undef MEMBER
};

// Classes that pointers to the first of them may lead to.
class Shape : public TObject {
public:
  int id = 0;
  ClassDefOverride(Shape, 1)
};
class Circle : public Shape {
public:
  double radius = 0;
  ClassDefOverride(Circle, 3)
};
class Label : public Shape {
public:
  std::string text;
  std::vector<float> widths;
  Point at;
  ClassDefOverride(Label, 1)
};

// Pointers to objects whose class only the data name, and to the same object more than once.
struct Pointers {
  Shape *one = nullptr;
  std::vector<Shape *> shapes;
  std::list<Shape *> listed;
  std::map<int, Shape *> byNumber;
  Shape *two[2] = {nullptr, nullptr};
  Circle *circle = nullptr; //->
  TObjArray array;
  TList list;
  int last = 0;
};

// A class that can be read from files of a version without `derived`, by the rule in classes.C.
struct Ruled {
  int stored = 0;
  std::string text;
  double derived = 0; //! not stored

  virtual ~Ruled() = default;
  ClassDef(Ruled, 3)
};

#endif
