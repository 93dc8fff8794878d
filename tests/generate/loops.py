"""Writes tests/data/loops.root with C++ ROOT: arrays of objects that a member counts, in collections that are divided into branches,
and classes with streamers of their own.

    python tests/generate/loops.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``) and ``g++``. ``loops.root.values.json`` is what ROOT reads.
"""

import json
import pathlib
import tempfile

import ROOT
import script

ROOT.gErrorIgnoreLevel = ROOT.kError

SOURCE = r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TTree.h>
#include <string>
#include <vector>

class Pulse {
public:
  short time = 0;
  float height = 0;
  ClassDefNV(Pulse, 1)
};
// Stored in five bytes, the number in the order of the machine, whatever its description says.
class Raw {
public:
  unsigned int time = 0;
  unsigned char channel = 0;
  ClassDefNV(Raw, 2)
};
// A base with a streamer of its own.
class Preamble {
public:
  int length = 0;
  int kind = 0;
  ClassDefNV(Preamble, 1)
};
class Chip : public TObject {
public:
  int id = 0;
  int n = 0;
  Pulse *pulses = nullptr; //[n]
  int m = 0;
  Raw *raws = nullptr; //[m]
  int last = 0;
  ~Chip() { delete[] pulses; delete[] raws; }
  Chip() = default;
  Chip(const Chip &other) : TObject(other) { *this = other; }
  Chip &operator=(const Chip &other)
  {
    delete[] pulses, delete[] raws;
    id = other.id, n = other.n, m = other.m, last = other.last;
    pulses = n ? new Pulse[n] : nullptr, raws = m ? new Raw[m] : nullptr;
    std::copy_n(other.pulses, n, pulses), std::copy_n(other.raws, m, raws);
    return *this;
  }
  ClassDefOverride(Chip, 1)
};
class Frame : public Preamble {
public:
  int id = 0;
  Raw raw;
  ClassDefNV(Frame, 1)
};
class Readout {
public:
  Raw first;
  std::vector<Raw> raws;
  std::vector<Frame> frames;
  int last = -3;
  ClassDefNV(Readout, 1)
};
#ifdef __ROOTCLING__
#pragma link C++ class Pulse+;
#pragma link C++ class Raw-;
#pragma link C++ class Preamble-;
#pragma link C++ class Chip+;
#pragma link C++ class Frame+;
#pragma link C++ class Readout+;
#pragma link C++ class std::vector<Raw>+;
#pragma link C++ class std::vector<Frame>+;
#pragma link C++ class std::vector<Chip>+;
#else
void Raw::Streamer(TBuffer &b)
{
  if (b.IsReading()) {
    b.ReadFastArray((char *)&time, 4);
    b >> channel;
  } else {
    b.WriteFastArray((const char *)&time, 4);
    b << channel;
  }
}
void Preamble::Streamer(TBuffer &b)
{
  if (b.IsReading())
    b >> length >> kind;
  else
    b << length << kind;
}
#endif

Raw raw(int k)
{
  Raw out;
  out.time = 1000000u * k + 7, out.channel = k % 256;
  return out;
}
void fill(Chip &chip, int entry, int k)
{
  chip.id = 10 * entry + k, chip.last = -k, chip.n = (entry + k) % 4, chip.m = (entry * k) % 3;
  chip.pulses = chip.n ? new Pulse[chip.n] : nullptr;
  chip.raws = chip.m ? new Raw[chip.m] : nullptr;
  for (int j = 0; j < chip.n; j++)
    chip.pulses[j].time = entry - j, chip.pulses[j].height = k + j / 8.f;
  for (int j = 0; j < chip.m; j++)
    chip.raws[j] = raw(entry + j);
}
void write(const char *path, int entries)
{
  TFile file(path, "RECREATE", "", 505);
  TTree loops("loops", "arrays of objects"), own("own", "streamers of their own");
  auto chips = new std::vector<Chip>;
  auto clones = new TClonesArray("Chip");
  auto chip = new Chip;
  auto readout = new Readout;
  loops.Branch("vector", "vector<Chip>", &chips, 4000, 99);
  loops.Branch("clones", "TClonesArray", &clones, 4000, 99);
  loops.Branch("whole", "vector<Chip>", &chips, 4000, 0);
  loops.Branch("chip.", "Chip", &chip, 4000, 99);
  own.Branch("whole", "Readout", &readout, 4000, 0);
  own.Branch("split.", "Readout", &readout, 4000, 99);
  for (int entry = 0; entry < entries; entry++) {
    chips->clear(), clones->Delete();
    for (int k = 0; k < (entry * 7) % 5; k++) {
      chips->emplace_back();
      fill(chips->back(), entry, k);
      fill(*static_cast<Chip *>(clones->ConstructedAt(k)), entry, k);
    }
    *chip = Chip();
    fill(*chip, entry, 1);
    readout->first = raw(entry);
    readout->raws.clear(), readout->frames.clear();
    for (int k = 0; k < entry % 4; k++) {
      readout->raws.push_back(raw(entry + k));
      Frame frame;
      frame.length = entry + k, frame.kind = 101, frame.id = k, frame.raw = raw(k);
      readout->frames.push_back(frame);
    }
    loops.Fill(), own.Fill();
  }
  file.Write();
  file.WriteObject(readout, "last");
}

// Values as JSON.
template <class T>
std::string number(T v)
{
  return std::to_string(v);
}
template <class T, class F>
std::string items(const T *all, int n, F &&each)
{
  std::string out;
  for (int k = 0; k < n; k++)
    out += (k ? ", " : "") + each(all[k]);
  return "[" + out + "]";
}
std::string json(const Pulse &v) { return "{\"time\": " + number(v.time) + ", \"height\": " + number(v.height) + "}"; }
std::string json(const Raw &v) { return "{\"time\": " + number(v.time) + ", \"channel\": " + number(v.channel) + "}"; }
std::string json(const Chip &v)
{
  auto one = [](auto &item) { return json(item); };
  return "{\"id\": " + number(v.id) + ", \"n\": " + number(v.n) + ", \"pulses\": " + items(v.pulses, v.n, one) + ", \"m\": " + number(v.m) +
         ", \"raws\": " + items(v.raws, v.m, one) + ", \"last\": " + number(v.last) + "}";
}
std::string json(const Frame &v)
{
  return "{\"length\": " + number(v.length) + ", \"kind\": " + number(v.kind) + ", \"id\": " + number(v.id) + ", \"raw\": " + json(v.raw) + "}";
}
template <class T>
std::string json(const std::vector<T> &v)
{
  return items(v.data(), v.size(), [](auto &item) { return json(item); });
}
std::string json(const TClonesArray &v)
{
  std::string out;
  for (int k = 0; k < v.GetEntriesFast(); k++)
    out += (k ? ", " : "") + json(*static_cast<const Chip *>(v.At(k)));
  return "[" + out + "]";
}
std::string json(const Readout &v)
{
  return "{\"first\": " + json(v.first) + ", \"raws\": " + json(v.raws) + ", \"frames\": " + json(v.frames) + ", \"last\": " + number(v.last) + "}";
}
template <class T>
std::string entries(TTree &tree, const char *name)
{
  T *object = nullptr;
  tree.SetBranchAddress(name, &object);
  std::string out;
  for (int k = 0; k < tree.GetEntries(); k++) {
    tree.GetBranch(name)->GetEntry(k);
    out += (k ? ", " : "") + json(*object);
  }
  return "[" + out + "]";
}
std::string read(TFile &file, std::string name)
{
  auto &loops = *file.Get<TTree>("loops"), &own = *file.Get<TTree>("own");
  if (name == "loops:clones")
    return entries<TClonesArray>(loops, "clones");
  if (name == "loops:chip.")
    return entries<Chip>(loops, "chip.");
  if (name.substr(0, 5) == "loops")
    return entries<std::vector<Chip>>(loops, name.substr(6).c_str());
  return entries<Readout>(own, name.substr(4).c_str());
}
"""


def main(folder):
    path = str(folder / "loops.root")
    with tempfile.TemporaryDirectory() as build:
        macro = pathlib.Path(build) / "loops.C"
        macro.write_text(SOURCE)
        if ROOT.gROOT.LoadMacro(f"{macro}+") != 0:
            raise SystemExit("the classes do not compile")
        ROOT.write(path, 40)
        file = ROOT.TFile(path)
        names = ("loops:vector", "loops:clones", "loops:whole", "loops:chip.", "own:whole", "own:split.")
        golden = {name: json.loads(str(ROOT.read(file, name))) for name in names}
    assert golden["loops:vector"] == golden["loops:clones"] == golden.pop("loops:whole")
    assert golden.pop("own:split.") == golden["own:whole"]
    golden.pop("loops:clones")
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in golden.items())
    (folder / "loops.root.values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    script.run(main, script.folder())
