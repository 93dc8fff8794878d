"""Runs one generator: ``python make.py FOLDER NAME`` calls ``NAME()`` of ``NAME.C`` in C++ ROOT, in FOLDER."""
import os
import sys
import warnings

warnings.simplefilter("ignore")
import ROOT  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))


def load(folder, name):
    """Compiles ``NAME.C`` into ``FOLDER/build`` and loads it."""
    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    build = os.path.join(folder, "build")
    os.makedirs(build, exist_ok=True)
    ROOT.gSystem.SetBuildDir(build, True)
    if ROOT.gROOT.LoadMacro(os.path.join(here, name + ".C+")) != 0:
        raise SystemExit(f"{name}.C does not compile")


def main(folder, name):
    folder = os.path.abspath(folder)
    load(folder, "classes")
    load(folder, name)
    os.chdir(folder)  # a file keeps the path that it was opened with
    getattr(ROOT, name)()


if __name__ == "__main__":
    main(*sys.argv[1:])
