"""Scientific files to columns, at the speed of code compiled for their layout.

>>> import forthwith
>>> with forthwith.open("events.root") as file:  # doctest: +SKIP
...     tree = file["events"]
...     tree.show()
...     muons = tree.arrays(["Muon_pt", "Muon_eta"])

Files are mappings, and so are the directories, trees and branches in them: `open` says what it takes, `Tree.arrays` what can
be read. Who knows uproot knows the rest.
"""

from forthwith._branch import Branch, Interpretation
from forthwith._bulk import Batch, KernelBatch, KernelBulk, ProgramBatch, ProgramBulk, RawBatch, RawBulk
from forthwith._errors import (
    Cancelled,
    ClosedFileError,
    DamagedFileError,
    ForthwithError,
    InternalError,
    KeyInFileError,
    MissingFileError,
    MissingPackageError,
    OutOfMemoryError,
    RequestError,
    SourceError,
    UnsupportedError,
)
from forthwith._file import Directory, File
from forthwith._forthwith import __version__, optimised
from forthwith._open import open
from forthwith._read import Report
from forthwith._selection import Selection
from forthwith._tree import Tree

if not optimised:
    import warnings

    warnings.warn(
        "forthwith was built without optimisation and is many times slower than it should be; "
        "build it with `maturin develop --release`",
        RuntimeWarning,
        stacklevel=2,
    )

__all__ = [
    "open",
    "File",
    "Directory",
    "Tree",
    "Branch",
    "Interpretation",
    "Selection",
    "Report",
    "Batch",
    "RawBatch",
    "KernelBatch",
    "ProgramBatch",
    "RawBulk",
    "KernelBulk",
    "ProgramBulk",
    "ForthwithError",
    "KeyInFileError",
    "UnsupportedError",
    "DamagedFileError",
    "RequestError",
    "SourceError",
    "MissingFileError",
    "ClosedFileError",
    "OutOfMemoryError",
    "Cancelled",
    "InternalError",
    "MissingPackageError",
    "__version__",
]
