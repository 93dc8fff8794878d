"""Datasets of coffea, ``{dataset: {"files": {path: tree}}}``, as mappings or JSON files."""

from __future__ import annotations

import os.path

from forthwith import _forthwith
from forthwith._errors import MissingFileError, RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ENDING = ".json"


def is_fileset(files: Any) -> bool:
    """Whether a mapping has datasets with their files."""
    values = list(files.values()) if hasattr(files, "values") else []
    return bool(values) and all(hasattr(value, "keys") and "files" in value for value in values)


def is_file(name: str) -> bool:
    """Whether a path is that of a JSON file with datasets, by its ending and first byte."""
    if not name.lower().endswith(_ENDING) or _ENDING[1:] in _forthwith.registered_endings():
        return False
    # Reading from a pipe would consume its bytes.
    if not os.path.isfile(name):
        return False
    try:
        with open(name, "rb") as file:
            return file.read(256).lstrip()[:1] == b"{"
    except OSError:
        return False


def files_of(files: Any, dataset: str | None = None) -> list[Any]:
    """Returns the files of all datasets, or of one, in order, each as ``{path: tree}``."""
    wanted = files.values() if dataset is None else [_named(files, dataset)]
    return [_paths(each["files"]) for each in wanted]


def read(path: str, dataset: str | None) -> list[Any]:
    """Reads the files of datasets from a JSON file.

    Raises:
        MissingFileError: The file does not exist.
        RequestError: The file has no datasets, or none with this name.
    """
    import json

    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise MissingFileError(f"{path} cannot be read: {error.strerror or error}", file=path) from None
    except (ValueError, RecursionError) as error:
        raise RequestError(f"{path} is not JSON, so it has no datasets: {error}", file=path) from None
    if not is_fileset(found):
        raise RequestError(
            f'{path} has no datasets, which look like {{"name": {{"files": {{"path": "tree"}}}}}}, as coffea has them',
            file=path,
        )
    try:
        return files_of(found, dataset)
    except RequestError as error:
        raise RequestError(f"{path}: {error.message}", file=path) from None


def _named(files: Any, dataset: str) -> Any:
    if dataset not in files:
        raise RequestError(f"there is no dataset {dataset!r}; there are {', '.join(map(repr, files))}")
    return files[dataset]


def _paths(files: Any) -> Any:
    if isinstance(files, str) or (hasattr(files, "__iter__") and not hasattr(files, "items")):
        return files
    if not hasattr(files, "items"):
        raise RequestError(f"the files of a dataset must be {{path: tree}} or a list of paths, not {files!r}")
    # A file may have further attributes; its tree is under "object_path".
    return {path: _tree(path, what) for path, what in files.items()}


def _tree(path: Any, what: Any) -> Any:
    if not hasattr(what, "keys"):
        return what
    if "object_path" not in what:
        raise RequestError(f'{path!r} of a dataset has no "object_path", the name of its tree')
    return what["object_path"]
