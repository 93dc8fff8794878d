"""Runs one generator: ``python make.py FOLDER NAME`` calls ``NAME(FOLDER)`` of ``NAME.C`` in C++ ROOT."""
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
    load(folder, "classes")
    load(folder, name)
    getattr(ROOT, name)(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
