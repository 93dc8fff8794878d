"""Objects of PyROOT that are assigned to files, in the process of C++ ROOT."""

import pathlib

import root_judge

import forthwith

SCRIPT = """
import os
sys.path.insert(0, sys.argv[1])
import array
import numpy as np
import forthwith
import forthwith.uproot
ROOT.TH1.AddDirectory(False)
ROOT.gErrorIgnoreLevel = ROOT.kError

one = ROOT.TH1I('one', 'title;pt [GeV];events', 3, 0, 3)
for _ in range(5):
    one.Fill(1.25)
one.SetLineColor(3)
one.GetXaxis().SetBinLabel(1, 'label')
line = ROOT.TF1('line', '[0]*x+[1]', 0, 3)
line.SetParameters(1, 2)
one.GetListOfFunctions().Add(line.Clone())
efficiency = ROOT.TEfficiency('efficiency', '', 2, 0, 2)
for entry in range(10):
    efficiency.Fill(entry % 2 == 0, 0.5)
two = ROOT.TH2D('two', 'two', 2, 0, 2, 2, 0, 2)
two.GetYaxis().SetBinLabel(2, 'second')
two.Fill(0.5, 1.5, 3)
profile = ROOT.TProfile('profile', 'profile', 3, 0, 3)
profile.Fill(1, 2, 3)
several = ROOT.TList()
text = ROOT.TObjString('text')
for item in (text, one, one, line):
    several.Add(item)
objects = {
    'one': one, 'dir/in/one': one, 'two': two, 'profile': profile, 'efficiency': efficiency, 'several': several,
    'bytes': ROOT.TH1C('bytes', 'bytes', 3, 0, 3), 'line': line, 'text': text, 'named': ROOT.TNamed('name', 'title'),
    'graph': ROOT.TGraph(2, array.array('d', [1, 2]), array.array('d', [3, 4])),
    'vector': ROOT.TLorentzVector(1, 2, 3, 4), 'parameter': ROOT.TParameter['double']('parameter', 2.5),
    'profile2': ROOT.TProfile2D('profile2', '', 2, 0, 2, 2, 0, 2), 'matrix': ROOT.TMatrixD(2, 2),
    'edges': ROOT.TH1D('edges', '', 3, array.array('d', [0, 1, 2, 4])), 'map': ROOT.TMap(), 'array': ROOT.TObjArray(),
}
plain = {'numbers': ROOT.std.vector['int']([1, 2, 3]), 'string': ROOT.std.string('abc')}
JSON = ROOT.TBufferJSON.ConvertToJSON
for module in (forthwith, forthwith.uproot):
    path = os.path.join(sys.argv[1], module.__name__ + '.root')
    here = ROOT.gDirectory.GetPath()
    with module.recreate(path) as file:
        for name, value in (objects | plain).items():
            file[name] = value
        file['both'] = [one, text, 'more']
        try:
            file['tree'] = ROOT.TTree('t', '')
        except forthwith.UnsupportedError as error:
            assert 'TTree of PyROOT' in str(error), error
        else:
            raise AssertionError('a tree')
    assert ROOT.gDirectory.GetPath() == here
    found = ROOT.TFile.Open(path)
    for name, value in objects.items():
        again = found.Get(name)
        assert type(again) is type(value), name
        assert str(JSON(again)) == str(JSON(value)), name
    assert list(found.Get('numbers')) == [1, 2, 3]
    assert str(found.Get('string')) == 'abc'
    both = found.Get('both')
    assert [item.ClassName() for item in both] == ['TH1I', 'TObjString', 'TObjString']
    assert both.At(0).GetXaxis().GetTitle() == 'pt [GeV]'
    found.Close()
    with forthwith.open(path) as file:
        assert file['bytes'].classname == 'TH1C'
        assert file['one'].member('fTsumwx') == 6.25
print(json.dumps('same'))
"""


def test_objects_are_written_as_root_writes_them(tmp_path):
    # The package alone: what is beside it is for another interpreter.
    (tmp_path / "forthwith").symlink_to(pathlib.Path(forthwith.__file__).parent)
    assert root_judge.by_root(SCRIPT, tmp_path) == "same"
