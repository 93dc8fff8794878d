"""Runs one generator: ``python make.py FOLDER NAME`` calls ``NAME()`` of ``NAME.C`` in C++ ROOT, in FOLDER.

Without a name it compiles the classes of all.
"""
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
    # Compiling takes most of the time.
    ROOT.gSystem.SetFlagsDebug("-O0")
    if ROOT.gROOT.LoadMacro(os.path.join(here, name + ".C+g")) != 0:
        raise SystemExit(f"{name}.C does not compile")


def main(folder, name=None):
    folder = os.path.abspath(folder)
    load(folder, "classes")
    if name is None:
        return
    load(folder, name)
    os.chdir(folder)  # a file keeps the path that it was opened with
    getattr(ROOT, name)()


if __name__ == "__main__":
    main(*sys.argv[1:])
