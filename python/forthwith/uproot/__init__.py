"""uproot's names for reading files, over forthwith: ``import forthwith.uproot as uproot``.

A script for uproot 5 moves by that line. Names of uproot answer as uproot does, in its types, its order of
arguments and its names of branches; values are forthwith's, also where uproot's differ;
the page on differences lists where.

>>> import forthwith.uproot as uproot
>>> with uproot.open("events.root") as file:  # doctest: +SKIP
...     muons = file["events"].arrays(["Muon_pt", "Muon_eta"])

`install` makes ``import uproot`` give this module, for packages such as coffea that are written for uproot.
"""

from __future__ import annotations

from forthwith.uproot import _modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith._errors import KeyInFileError as KeyInFileError
    from forthwith.uproot._branches import HasBranches as HasBranches
    from forthwith.uproot._file import ReadOnlyDirectory as ReadOnlyDirectory
    from forthwith.uproot._file import ReadOnlyFile as ReadOnlyFile
    from forthwith.uproot._interpretation import AsDtype as AsDtype
    from forthwith.uproot._interpretation import AsGrouped as AsGrouped
    from forthwith.uproot._interpretation import AsJagged as AsJagged
    from forthwith.uproot._interpretation import AsObjects as AsObjects
    from forthwith.uproot._interpretation import AsStrings as AsStrings
    from forthwith.uproot._many import concatenate as concatenate
    from forthwith.uproot._many import iterate as iterate
    from forthwith.uproot._many import num_entries as num_entries
    from forthwith.uproot._model import Model as Model
    from forthwith.uproot._modules import install as install
    from forthwith.uproot._ntuple import RNTuple as RNTuple
    from forthwith.uproot._open import open as open
    from forthwith.uproot._tree import TBranch as TBranch
    from forthwith.uproot._tree import TTree as TTree

__version__ = "5.7.7"
"""The version of uproot whose names these are; that of forthwith is ``forthwith.__version__``."""

default_library = "ak"
classes: dict[str, type] = {}
unknown_classes: dict[str, type] = {}


def __getattr__(name: str) -> object:
    if name.startswith("_") and name != "_util":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    found = _modules.find(name)
    if found is _modules.ABSENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_modules.instead(name)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:

    return sorted({*_modules.names(), "__version__", "classes", "default_library", "install", "unknown_classes"})


_modules.register(__name__)
