"""Columnar reading and writing of scientific files, with code compiled for their layout.

>>> import forthwith
>>> with forthwith.open("events.root") as file:  # doctest: +SKIP
...     tree = file["events"]
...     tree.show()
...     muons = tree.arrays(["Muon_pt", "Muon_eta"])

Files, directories, trees and branches are mappings. `open` takes paths, URLs, patterns and file objects, and
`Tree.arrays` reads columns. Methods with the same name as in uproot have the same meaning.

>>> with forthwith.recreate("muons.root") as file:  # doctest: +SKIP
...     file["muons"] = {"pt": muons.Muon_pt, "eta": muons.Muon_eta}

`recreate`, `create` and `update` write ROOT files, `write_avro`, `write_parquet`, `write_protobuf`, `write_csv` and
`write_json` write these formats, and `merge` joins ROOT files. `iterate`, `concatenate` and `Chain` read many files.
"""

from forthwith._forthwith import __version__, optimised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith import avro as avro
    from forthwith import builders as builders
    from forthwith import csv as csv
    from forthwith import engines as engines
    from forthwith import forth as forth
    from forthwith import json as json
    from forthwith import parquet as parquet
    from forthwith import protobuf as protobuf
    from forthwith import uproot as uproot
    from forthwith._dataset import dataset
    from forthwith._diff import diff
    from forthwith._errors import (
        BuilderError,
        BuilderTypeError,
        Cancelled,
        ClosedFileError,
        DamagedFileError,
        DeniedFileError,
        ForthwithError,
        IntegerRangeError,
        InternalError,
        KeyInFileError,
        MissingFileError,
        MissingPackageError,
        OutOfMemoryError,
        RecoveryWarning,
        RequestError,
        RequestIndexError,
        RequestKeyError,
        RequestTypeError,
        SourceError,
        UnsupportedError,
    )
    from forthwith._file import Directory, File
    from forthwith._formats import register_format, unregister_format
    from forthwith._index import index
    from forthwith._merge import merge
    from forthwith._objects import Object, register_class
    from forthwith._open import open
    from forthwith._scan import scan
    from forthwith._tree.branch import Branch, Interpretation
    from forthwith._tree.bulk import Batch, KernelBatch, KernelBulk, ProgramBatch, ProgramBulk, RawBatch, RawBulk
    from forthwith._tree.chain import Chain, concatenate, iterate
    from forthwith._tree.damage import DataLossWarning, Loss
    from forthwith._tree.selection import Selection
    from forthwith._tree.tree import Tree
    from forthwith._tree.walk import Report
    from forthwith._writable.compression import LZ4, LZMA, ZLIB, ZSTD
    from forthwith._writable.file import WritableDirectory, WritableFile, create, recreate, update
    from forthwith.avro import write as write_avro
    from forthwith.avro import writer as avro_writer
    from forthwith.builders import ArrayBuilder, TypedArrayBuilder, from_iter
    from forthwith.csv import write as write_csv
    from forthwith.csv import writer as csv_writer
    from forthwith.json import write as write_json
    from forthwith.json import writer as json_writer
    from forthwith.parquet import write as write_parquet
    from forthwith.parquet import writer as parquet_writer
    from forthwith.protobuf import write as write_protobuf
    from forthwith.protobuf import writer as protobuf_writer

# Names that are imported on first access, by their module.
_LAZY = {
    **dict.fromkeys(
        (
            "BuilderError",
            "BuilderTypeError",
            "Cancelled",
            "ClosedFileError",
            "DamagedFileError",
            "DeniedFileError",
            "ForthwithError",
            "IntegerRangeError",
            "InternalError",
            "KeyInFileError",
            "MissingFileError",
            "MissingPackageError",
            "OutOfMemoryError",
            "RecoveryWarning",
            "RequestError",
            "RequestIndexError",
            "RequestKeyError",
            "RequestTypeError",
            "SourceError",
            "UnsupportedError",
        ),
        "_errors",
    ),
    "Directory": "_file",
    "File": "_file",
    "open": "_open",
    "Branch": "_tree.branch",
    "Interpretation": "_tree.branch",
    "Batch": "_tree.bulk",
    "KernelBatch": "_tree.bulk",
    "KernelBulk": "_tree.bulk",
    "ProgramBatch": "_tree.bulk",
    "ProgramBulk": "_tree.bulk",
    "RawBatch": "_tree.bulk",
    "RawBulk": "_tree.bulk",
    "Tree": "_tree.tree",
    "ArrayBuilder": "builders",
    "TypedArrayBuilder": "builders",
    "from_iter": "builders",
    "Chain": "_tree.chain",
    "DataLossWarning": "_tree.damage",
    "Loss": "_tree.damage",
    "index": "_index",
    "merge": "_merge",
    "Object": "_objects",
    "Report": "_tree.walk",
    "Selection": "_tree.selection",
    "concatenate": "_tree.chain",
    "dataset": "_dataset",
    "diff": "_diff",
    "iterate": "_tree.chain",
    "register_class": "_objects",
    "scan": "_scan",
    "register_format": "_formats",
    "unregister_format": "_formats",
    "avro_writer": "avro",
    "csv_writer": "csv",
    "json_writer": "json",
    "parquet_writer": "parquet",
    "protobuf_writer": "protobuf",
    "write_avro": "avro",
    "write_csv": "csv",
    "write_json": "json",
    "write_parquet": "parquet",
    "write_protobuf": "protobuf",
    "LZ4": "_writable.compression",
    "LZMA": "_writable.compression",
    "ZLIB": "_writable.compression",
    "ZSTD": "_writable.compression",
    "WritableDirectory": "_writable.file",
    "WritableFile": "_writable.file",
    "create": "_writable.file",
    "recreate": "_writable.file",
    "update": "_writable.file",
}
# Modules that are imported on first access.
_MODULES = ("avro", "builders", "csv", "engines", "forth", "json", "parquet", "protobuf", "uproot")
# Names within the module, where they differ.
_ALIASES = {
    **{f"{name}_writer": "writer" for name in ("avro", "csv", "json", "parquet", "protobuf")},
    **{f"write_{name}": "write" for name in ("avro", "csv", "json", "parquet", "protobuf")},
}


# Hints for names of similar libraries.
_INSTEAD = {
    "writing": "forthwith.recreate, create and update write ROOT files",
    "dask": "it is forthwith.engines.dask, with delayed, bag and dataframe",
    "lazy": "arrays(virtual=True) reads each column when it is touched, forthwith.iterate reads step by step",
    "TTree": "it is forthwith.Tree",
    "TBranch": "it is forthwith.Branch",
    "ReadOnlyFile": "it is forthwith.File",
    "ReadOnlyDirectory": "it is forthwith.Directory",
    "num_entries": "forthwith.open(files).lengths are the entries of several files",
    "read_parquet": "it is forthwith.open(path).arrays()",
    "read_avro": "it is forthwith.open(path).arrays()",
    "scan_parquet": "it is forthwith.scan(path), a LazyFrame of polars",
    "to_parquet": "it is forthwith.write_parquet(path, array)",
    "to_avro": "it is forthwith.write_avro(path, array)",
    "to_csv": "it is forthwith.write_csv(path, array)",
    "to_json": "it is forthwith.write_json(path, array)",
    "write_ndjson": "it is forthwith.write_json(path, array, lines=True)",
    "write": "it is write_avro, write_csv, write_json, write_parquet and write_protobuf, or recreate for ROOT files",
    "convert": "it is the command `forthwith convert`; in Python, write what open(path).arrays() gives",
    "hadd": "it is forthwith.merge(files, path)",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY and name not in _MODULES:
        instead = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead}")
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"forthwith.{name}")
    found: object = getattr(import_module(f"forthwith.{_LAZY[name]}"), _ALIASES.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"})


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
    "dataset",
    "iterate",
    "recreate",
    "create",
    "update",
    "merge",
    "diff",
    "index",
    "WritableFile",
    "WritableDirectory",
    "ZLIB",
    "LZMA",
    "LZ4",
    "ZSTD",
    "Chain",
    "Object",
    "register_class",
    "scan",
    "register_format",
    "unregister_format",
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
    "write_protobuf",
    "protobuf_writer",
    "write_csv",
    "csv_writer",
    "write_json",
    "json_writer",
    "ForthwithError",
    "KeyInFileError",
    "UnsupportedError",
    "DamagedFileError",
    "RequestError",
    "RequestIndexError",
    "RequestKeyError",
    "RequestTypeError",
    "SourceError",
    "DeniedFileError",
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
