"""Members that hide those of bases, and counters of arrays, in classes of C++ ROOT."""

import pytest
from root_judge import by_root, need_root

import forthwith
import forthwith.uproot

CLASSES = """
#include <TFile.h>
#include <TTree.h>
#include <string>
#include <vector>
struct Top { int x; };
struct One : Top { int x; };
struct Two : Top { float y; };
struct Three : One, Two { int x; std::string y; };
struct Only : Two { int z; };
struct Neither : One, Only {};
struct Counted { int n; float *values = nullptr; //[n]
  int count; };
int &top_of(const One &one) { return const_cast<int &>(static_cast<const Top &>(one).x); }
std::vector<int> numbers(const char *path) {
  TFile file(path);
  const Three &three = *file.Get<Three>("three");
  const Neither &neither = *file.Get<Neither>("neither");
  return {top_of(three), three.One::x, three.Two::x, three.x, top_of(neither), neither.One::x, neither.Only::x, neither.z};
}
void make(const char *path) {
  TFile file(path, "recreate", "", 0);
  TTree tree("t", "");
  Three three; Neither neither; std::vector<Three> threes; Counted counted;
  auto *threep = &three; auto *neitherp = &neither; auto *threesp = &threes; auto *countedp = &counted;
  tree.Branch("three", &threep, 32000, 0); tree.Branch("neither", &neitherp, 32000, 0);
  tree.Branch("threes", &threesp, 32000, 0); tree.Branch("counted", &countedp, 32000, 0);
  tree.Branch("split.", &countedp, 32000, 99);
  for (int entry = 0; entry < 3; ++entry) {
    top_of(three) = entry + 1; three.One::x = entry + 10; three.Two::x = entry + 20; three.Two::y = 0.5;
    three.x = entry + 30; three.y = "text";
    top_of(neither) = entry + 1; neither.One::x = entry + 10; neither.Only::x = entry + 20; neither.y = 0.5; neither.z = 7;
    threes.assign(entry, three);
    delete[] counted.values;
    counted.n = entry; counted.values = new float[3]{1, 2, 3}; counted.count = entry;
    tree.Fill();
  }
  tree.Write();
  file.WriteObject(&three, "three"); file.WriteObject(&neither, "neither"); file.WriteObject(&counted, "counted");
}
#ifdef __CLING__
#pragma link C++ struct Top+;
#pragma link C++ struct One+;
#pragma link C++ struct Two+;
#pragma link C++ struct Three+;
#pragma link C++ struct Only+;
#pragma link C++ struct Neither+;
#pragma link C++ struct Counted+;
#pragma link C++ class std::vector<Three>+;
#endif
"""
BUILD = """
ROOT.gErrorIgnoreLevel = 3000
assert ROOT.gSystem.CompileMacro(sys.argv[1], 'k')
ROOT.make(sys.argv[2])
print(json.dumps('done'))
"""
AGAIN = """
ROOT.gErrorIgnoreLevel = 3000
assert ROOT.gSystem.CompileMacro(sys.argv[1], 'k')
print(json.dumps(list(ROOT.numbers(sys.argv[2]))))
"""


def three(entry):
    numbers = {"Top::x": entry + 1, "One::x": entry + 10, "Two::x": entry + 20}
    return numbers | {"Two::y": 0.5, "x": entry + 30, "y": "text"}


def neither(entry):
    return {"Top::x": entry + 1, "One::x": entry + 10, "Only::x": entry + 20, "y": 0.5, "z": 7}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    need_root()
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "classes.C").write_text(CLASSES)
    assert by_root(BUILD, folder / "classes.C", folder / "made.root") == "done"
    return folder / "made.root"


@pytest.mark.slow
def test_columns_have_all_members(made):
    for module in (forthwith, forthwith.uproot):
        with module.open(made) as file:
            arrays = file["t"].arrays(["three", "neither", "threes"])
            assert arrays["three"].to_list() == [three(entry) for entry in range(3)]
            assert arrays["neither"].to_list() == [neither(entry) for entry in range(3)]
            assert arrays["threes"].to_list() == [[three(entry)] * entry for entry in range(3)]
    with forthwith.open(made) as file:
        tree = file["t"]
        assert tree.arrays(["three.Two::x", "three.x"]).to_list()[2] == {"three.Two::x": 22, "three.x": 32}
        assert tree.arrays(["sum"], aliases={"sum": "`three.One::x` + `three.x`"})["sum"].to_list() == [40, 42, 44]


@pytest.mark.slow
def test_objects_have_all_members(made, tmp_path):
    with forthwith.open(made) as file:
        found = file["three"]
        assert found.all_members == three(2)
        assert (found.member("x"), found.member("One::x"), found["Two::y"]) == (32, 12, 0.5)
        assert [base.all_members for base in found.base("One")] == [{"Top::x": 3, "x": 12}]
        assert found.members == {"x": 32, "y": "text"}
        assert file["neither"].tojson() == {"_typename": "Neither", **neither(2)}
        assert forthwith.uproot.open(made)["three"].all_members == three(2)
        with forthwith.recreate(tmp_path / "copied.root") as copied:
            copied.describe(file)
            for name in ("three", "neither"):
                copied[name] = file[name]
    numbers = [3, 12, 22, 32, 3, 12, 22, 7]
    assert by_root(AGAIN, made.parent / "classes.C", tmp_path / "copied.root") == numbers


@pytest.mark.slow
def test_counters_are_signed(made):
    for module in (forthwith, forthwith.uproot):
        with module.open(made) as file:
            tree = file["t"]
            found = tree["counted"].array()
            assert found.to_list()[2] == {"n": 2, "values": [1, 2], "count": 2}
            assert str(found.type.content.contents[0]) == "int32"
            split = next(name for name in tree.iterkeys() if name.endswith("n"))
            assert str(tree[split].array().type) == "3 * int32"
    with forthwith.open(made) as file:
        tree = file["t"]
        less = tree.arrays(["less"], aliases={"less": f"`{split}` - 3"}, cut=f"`{split}` - 3 < -1")["less"]
        assert less.to_list() == [-3, -2]
        assert file["counted"].member("n") == 2


@pytest.mark.slow
def test_negative_counters_are_damage(made, tmp_path):
    damaged = bytearray(made.read_bytes())
    # Entry 2 as C++ ROOT stores it: its counter, the flag of the array, two numbers, and the member behind them.
    entry = bytes([0, 0, 0, 2, 1, 0x3F, 0x80, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 2])
    places = [at for at in range(len(damaged)) if damaged.startswith(entry, at)]
    assert len(places) == 2, "in the branch and in the object"
    for at in places:
        damaged[at : at + 4] = b"\xff\xff\xff\xfe"
    (tmp_path / "damaged.root").write_bytes(damaged)
    with forthwith.open(tmp_path / "damaged.root") as file, pytest.raises(forthwith.DamagedFileError):
        file["t"]["counted"].array()
    with forthwith.open(tmp_path / "damaged.root") as file, pytest.raises(forthwith.DamagedFileError):
        file["counted"].member("values")


@pytest.mark.slow
def test_dicts_do_not_say_one_base_for_another(made, tmp_path):
    with forthwith.open(made) as file, forthwith.recreate(tmp_path / "dicts.root") as again:
        again.describe(file)
        # Two of its bases have an x of their base Top.
        with pytest.raises(forthwith.UnsupportedError, match="several bases"):
            again["three"] = file["three"].tojson()
        again["counted"] = file["counted"].tojson()
