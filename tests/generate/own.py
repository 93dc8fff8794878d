"""Writes tests/data/own.root with C++ ROOT: objects of classes that ROOT writes by code of their own, and that no info in the file describes.

    python tests/generate/own.py [FOLDER]

needs PyROOT (``pip install root==0.1a12``). ``own.root.values.json`` is what ROOT says of each when it has read it back.
"""

import json

import ROOT
import script

ROOT.gROOT.SetBatch(True)
ROOT.gErrorIgnoreLevel = ROOT.kError
for library in ("libGui", "libASImage", "libRecorder"):
    ROOT.gSystem.Load(library)
ROOT.gInterpreter.Declare("""
#include <TChain.h>
#include <TChainElement.h>
#include <TExMap.h>
#include <TImage.h>
#include <TKeyMapFile.h>
#include <TMixture.h>
#include <TPluginManager.h>
#include <TQCommand.h>
#include <TRecorder.h>
#include <TStringLong.h>
#include <TUri.h>
#include <TUrl.h>
std::vector<std::vector<Long64_t>> rows(const TExMap &map)
{
  std::vector<std::vector<Long64_t>> all;
  TExMapIter next(&map);
  ULong64_t hash;
  Long64_t key, value;
  while (next.Next(hash, key, value))
    all.push_back({(Long64_t)hash, key, value});
  return all;
}
void others(TDirectory &to)
{
  TStringLong text("a long string");
  to.WriteObjectAny(&text, "TStringLong", "long");
  TQCommand list;
  list.TList::Add(new TObjString("one"));
  list.TList::Add(new TObjString("two"));
  to.WriteObjectAny(&list, "TQCommand", "commands");
}
""")


def kept(thing):
    ROOT.SetOwnership(thing, False)
    return thing


def url(of):
    parts = ("Protocol", "User", "Passwd", "Host", "File", "Anchor", "Options", "Port")
    return {f"f{part}": getattr(of, f"Get{part}")() for part in parts}


def uri(of):
    parts = ("Scheme", "Host", "Port", "Path", "Query", "Fragment")
    return {f"f{part}": str(getattr(of, f"Get{part}")()) for part in parts} | {"fUserinfo": str(of.GetUserInfo())}


def material(of):
    numbers = {f"f{part}": getattr(of, f"Get{part}")() for part in ("A", "Z", "Density", "RadLength", "InterLength", "Number")}
    return {"fName": of.GetName(), "fTitle": of.GetTitle(), "fFillColor": of.GetFillColor()} | numbers


def mixture(of):
    return material(of) | {f"f{part}mixt": [getattr(of, f"Get{part}mixt")()[k] for k in range(3)] for part in "AZW"}


def palette(of):
    parts = ("fPoints", "fColorRed", "fColorGreen", "fColorBlue", "fColorAlpha")
    return {part: [getattr(of, part)[k] for k in range(of.fNumPoints)] for part in parts}


def image(of):
    count = of.GetWidth() * of.GetHeight()
    return {"width": of.GetWidth(), "height": of.GetHeight(), "vector": [of.GetVecArray()[k] for k in range(count)]}


def write(folder):
    path = str(folder / "own.root")
    file = ROOT.TFile(path, "RECREATE", "", 505)

    def put(thing, name):
        file.WriteObjectAny(thing, thing.IsA(), name)

    put(ROOT.TUrl("root://someone:secret@host.example:1094/a/b.root?x=1#there"), "url")
    put(ROOT.TUri("http://me@host.example:80/path?q=1#part"), "uri")
    chain = ROOT.TChain("events", "a chain")
    chain.Add("a.root", 100)
    chain.Add("b.root/others", 200)
    put(chain, "chain")
    numbers = ROOT.TExMap()
    for key in range(5):
        numbers.Add(7 * key, key, -key)
    put(numbers, "numbers")
    tree = ROOT.TBtree(3)
    for number in range(9):
        tree.Add(kept(ROOT.TObjString(f"s{8 - number}")))
    put(tree, "sorted")
    plugins = ROOT.TPluginManager()
    plugins.AddHandler("TBase", "^some:", "TPlugin", "library", "TPlugin()")
    put(plugins, "plugins")
    iron = ROOT.TMaterial("fe", "iron", 55.85, 26, 7.87, 1.76, 16.8)
    iron.SetFillColor(5)
    put(iron, "material")
    mixed = ROOT.TMixture("mix", "a mixture", 3)
    for number in range(3):
        mixed.DefineElement(number, 1.5 + number, 2 + number, 0.25 * number)
    put(mixed, "mixture")
    colors = ROOT.TImagePalette(3)
    for number in range(3):
        colors.fPoints[number] = number / 2
        for at, part in enumerate((colors.fColorRed, colors.fColorGreen, colors.fColorBlue, colors.fColorAlpha)):
            part[number] = 1000 * at + number
    put(colors, "palette")
    values = ROOT.TImage.Create()
    vector = ROOT.std.vector("double")([0, 1, 2, 3.5, 4, 5])
    values.SetImage(vector.data(), 3, 2)
    put(values, "image")
    drawn = ROOT.TImage.Create()
    drawn.FillRectangle("#ff0000", 0, 0, 5, 4)
    put(drawn, "png")
    put(ROOT.TKeyMapFile("name", "title", ROOT.nullptr), "mapped")
    ROOT.others(file)
    file.Close()

    file = ROOT.TFile(path)
    golden = {
        "url": url(file.Get("url")),
        "uri": uri(file.Get("uri")),
        "chain": [[of.GetName(), of.GetTitle(), of.GetEntries()] for of in file.Get("chain").GetListOfFiles()],
        "numbers": [list(row) for row in ROOT.rows(file.Get("numbers"))],
        "sorted": [str(of) for of in file.Get("sorted")],
        "material": material(file.Get("material")),
        "mixture": mixture(file.Get("mixture")),
        "palette": palette(file.Get("palette")),
        "image": image(file.Get("image")),
        "png": [file.Get("png").GetWidth(), file.Get("png").GetHeight()],
        "mapped": [file.Get("mapped").GetName(), file.Get("mapped").GetTitle()],
        # Of these ROOT reads nothing: `Get` takes a text for no object, and reading makes one command of all. So what was written.
        "long": "a long string",
        "commands": ["one", "two"],
    }
    (folder / "own.root.values.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    script.run(write, script.folder())
