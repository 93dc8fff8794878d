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
    BuilderError,
    BuilderTypeError,
    Cancelled,
    ClosedFileError,
    DamagedFileError,
    ForthwithError,
    IntegerRangeError,
    InternalError,
    KeyInFileError,
    MissingFileError,
    MissingPackageError,
    OutOfMemoryError,
    RecoveryWarning,
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith import avro as avro
    from forthwith import forth as forth
    from forthwith import parquet as parquet
    from forthwith._builders import ArrayBuilder, from_iter
    from forthwith._builders_typed import TypedArrayBuilder
    from forthwith._chain import Chain, concatenate, iterate
    from forthwith._objects import Object, register_class
    from forthwith._salvage import DataLossWarning, Loss
    from forthwith.avro import write as write_avro
    from forthwith.avro import writer as avro_writer
    from forthwith.parquet import write as write_parquet
    from forthwith.parquet import writer as parquet_writer

# Imported when they are first asked for.
_LATER = {
    "ArrayBuilder": "_builders",
    "TypedArrayBuilder": "_builders_typed",
    "from_iter": "_builders",
    "Chain": "_chain",
    "DataLossWarning": "_salvage",
    "Loss": "_salvage",
    "Object": "_objects",
    "concatenate": "_chain",
    "iterate": "_chain",
    "register_class": "_objects",
    "avro_writer": "avro",
    "parquet_writer": "parquet",
    "write_avro": "avro",
    "write_parquet": "parquet",
}
# Modules that are imported when they are first asked for.
_MODULES = ("avro", "forth", "parquet")
# What they are called where they stand.
_CALLED = {"avro_writer": "writer", "parquet_writer": "writer", "write_avro": "write", "write_parquet": "write"}


def __getattr__(name: str) -> object:
    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"forthwith.{name}")
    found: object = getattr(import_module(f"forthwith.{_LATER[name]}"), _CALLED.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})


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
    "concatenate",
    "iterate",
    "Chain",
    "Object",
    "register_class",
    "Loss",
    "DataLossWarning",
    "RecoveryWarning",
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
    "ArrayBuilder",
    "TypedArrayBuilder",
    "from_iter",
    "write_avro",
    "avro_writer",
    "write_parquet",
    "parquet_writer",
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
    "BuilderError",
    "BuilderTypeError",
    "IntegerRangeError",
    "__version__",
]
