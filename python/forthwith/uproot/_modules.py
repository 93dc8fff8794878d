"""Where uproot has its names: its modules, made of what this package has, and the place of uproot in a process."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

_HERE = "forthwith.uproot"
ABSENT = object()

# Modules of this package, and the names that they have for uproot's top.
_TOP = {
    "_errors": "DeserializationError KeyInFileError",
    "_open": "open",
    "_file": "ReadOnlyDirectory ReadOnlyFile",
    "_many": "concatenate iterate num_entries",
    "_tree": "TBranch TTree",
    "_ntuple": "RNTuple",
    "_model": "Model class_named classname_decode classname_encode has_class_named reset_classes",
    "_behaviors": "behavior_of",
    "_cache": "LRUArrayCache LRUCache",
    "_custom": "register_interpretation unregister_interpretation",
    "_containers": "AsArray AsDynamic AsMap AsPointer AsRVec AsSet AsString AsVector STLMap STLSet STLVector",
    "_interpretation": (
        "AsDouble32 AsDtype AsDtypeInPlace AsFloat16 AsGrouped AsJagged AsObjects AsSTLBits AsStridedObjects AsStrings"
    ),
    "_options": (
        "Cursor FSSpecSource HTTPSource MemmapSource MultithreadedFileSource MultithreadedHTTPSource "
        "MultithreadedXRootDSource ObjectSource ThreadPoolExecutor TrivialExecutor XRootDSource no_filter"
    ),
    "_compression": "LZ4 LZMA ZLIB ZSTD",
    "_writing": "WritableDirectory WritableFile WritableNTuple WritableTree create recreate update",
    "_made": "as_TGraph to_writable",
    "_dask": "dask",
    "_dask_write": "dask_write",
    "_pyroot": "from_pyroot to_pyroot",
    "_modules": "install",
}

# uproot's modules of classes of ROOT's.
_MODELS = (
    "TArray", "TAtt", "TBasket", "TClonesArray", "TDatime", "TGraph", "TH", "THashList", "TLeaf", "TList", "TMatrixT",
    "TNamed", "TObjArray", "TObjString", "TObject", "TRef", "TString", "TTable", "TTime",
)  # fmt: skip

# uproot's modules: for each, the modules here that have its names.
_MODULES = {
    "_util": "_util _options",
    "behavior": "_behaviors",
    "behaviors": "",
    "behaviors.RNTuple": "_ntuple _ntuple_fields _many",
    "behaviors.RooCurve": "_behaviors",
    "behaviors.RooHist": "_behaviors",
    "behaviors.TAxis": "_behaviors",
    "behaviors.TBranch": "_tree _branches _many",
    "behaviors.TBranchElement": "_tree",
    "behaviors.TDatime": "_behaviors",
    "behaviors.TGraph": "_behaviors",
    "behaviors.TGraphAsymmErrors": "_behaviors",
    "behaviors.TGraphErrors": "_behaviors",
    "behaviors.TH1": "_behaviors",
    "behaviors.TH2": "_behaviors",
    "behaviors.TH2Poly": "_behaviors",
    "behaviors.TH3": "_behaviors",
    "behaviors.TParameter": "_behaviors",
    "behaviors.TProfile": "_behaviors",
    "behaviors.TProfile2D": "_behaviors",
    "behaviors.TProfile3D": "_behaviors",
    "behaviors.TTree": "_tree",
    "cache": "_cache",
    "compression": "_compression",
    "const": "_const",
    "containers": "_containers",
    "deserialization": "_errors",
    "dynamic": "",
    "exceptions": "_errors",
    "extras": "_extras",
    "interpretation": "_interpretation",
    "interpretation.custom": "_custom _interpretation",
    "interpretation.grouped": "_interpretation",
    "interpretation.identify": "_identify _interpretation",
    "interpretation.jagged": "_interpretation",
    "interpretation.library": "_library",
    "interpretation.numerical": "_interpretation",
    "interpretation.objects": "_interpretation _errors",
    "interpretation.strings": "_interpretation",
    "language": "_options",
    "language.python": "_options",
    "model": "_model",
    "models": "",
    "models.RNTuple": "_ntuple _rfield",
    "models.TBranch": "_tree",
    "models.TTree": "_tree _many",
    **{f"models.{name}": "_models" for name in _MODELS},
    "pyroot": "_pyroot",
    "reading": "_file _keys _open _detached",
    "source": "",
    "source.chunk": "_options",
    "source.cursor": "_options",
    "source.file": "_options",
    "source.fsspec": "_options",
    "source.futures": "_options",
    "source.http": "_options",
    "source.object": "_options",
    "source.xrootd": "_options",
    "streamers": "_streamers",
    "version": "",
    "writing": "_writing _made _dask_write",
    "writing.identify": "_made _made_histograms",
    "writing.interpret": "_made",
    "writing.writable": "_writing",
}

_INSTEAD = {
    "WritableBranch": "tables are written by assignment",
    "lazy": "arrays(virtual=True) reads columns when they are touched",
}

_made: dict[str, ModuleType] = {}


def names() -> set[str]:
    """The names at the top."""
    return {name for found in _TOP.values() for name in found.split()} | {
        name for name in _MODULES if "." not in name and name != "_util"
    }


def instead(name: str) -> str:
    """The rest of the message for a name that is not here."""
    return f": {_INSTEAD[name]}" if name in _INSTEAD else ""


def find(name: str) -> object:
    """What uproot has under a name at its top, or `ABSENT`."""
    for place, found in _TOP.items():
        if name in found.split():
            return getattr(import_module(f"{_HERE}.{place}"), name)
    return module(name) if name in _MODULES else ABSENT


def module(name: str) -> ModuleType:
    """One of uproot's modules."""
    if name not in _made:
        _made[name] = _Made(name)
    return _made[name]


class _Made(ModuleType):
    """A module of uproot's, whose names are looked up here when they are asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{_HERE}.{name}", f"uproot's module {name}, over forthwith.")
        self.__path__: list[str] = []
        self._name = name

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        below = f"{self._name}.{name}"
        if below in _MODULES:
            setattr(self, name, module(below))
            return module(below)
        if below == "version.version":
            return "5.7.7"
        if name == "uproot":
            # Modules of uproot's hold it by this name, and coffea goes that way.
            self.uproot = import_module(_HERE)
            return self.uproot
        for place in _MODULES[self._name].split():
            found = getattr(import_module(f"{_HERE}.{place}"), name, ABSENT)
            if found is not ABSENT:
                setattr(self, name, found)
                return found
        if name.startswith("_"):
            # Programs import such names for a case that may not come.
            return import_module(f"{_HERE}._errors").Private(below)
        raise AttributeError(f"uproot's module {self._name!r} has no {name!r} here{instead(name)}")


def register(top: str) -> None:
    """Lets ``import`` find uproot's modules below a name."""
    for name in _MODULES:
        if top != _HERE or not name.startswith("_"):
            sys.modules[f"{top}.{name}"] = module(name)


def install() -> None:
    """Makes ``import uproot`` give this module from now on, in this process.

    For packages that import uproot themselves, as coffea does: to be called before they are imported.

    Raises:
        RuntimeError: uproot itself was imported before; what holds names of it would go on with those.
    """
    here = import_module(_HERE)
    if sys.modules.get("uproot", here) is not here:
        raise RuntimeError("uproot was imported before: forthwith.uproot.install() comes first")
    sys.modules["uproot"] = here
    register("uproot")
