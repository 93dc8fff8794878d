"""Conversion of arrays for Awkward Array, NumPy, pandas, polars and Arrow, imported on first use."""

from __future__ import annotations

from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith._interop.base import How, Library, LibraryName

# Package, module and class of each library, by name.
_AWKWARD = ("awkward", "awkward", "AwkwardLibrary")
_NUMPY = ("numpy", "numpy", "NumPyLibrary")
_PANDAS = ("pandas", "pandas", "PandasLibrary")
_ARROW = ("pyarrow", "arrow", "ArrowLibrary")
_STRUCTS = ("pyarrow", "arrow", "StructLibrary")
_POLARS = ("polars", "polars", "PolarsLibrary")
_ROWS = ("json", "rows", "RowsLibrary")  # which needs no package
_LIBRARIES = {
    "ak": _AWKWARD,
    "awkward": _AWKWARD,
    "np": _NUMPY,
    "numpy": _NUMPY,
    "pd": _PANDAS,
    "pandas": _PANDAS,
    "arrow": _ARROW,
    "pa": _ARROW,
    "pyarrow": _ARROW,
    "arrow with structs": _STRUCTS,
    "pl": _POLARS,
    "polars": _POLARS,
    "rows": _ROWS,
}


def library(name: LibraryName, how: How = None, logical: bool = True) -> Library:
    """Returns the converter of a library. Raises errors for missing packages and invalid options.

    For rows, ``how`` is the option ``union_names`` (`RowsLibrary`), as they have no containers.
    """
    found = _LIBRARIES.get(str(name))
    if found is None:
        raise ValueError(f'library must be "ak", "np", "pd", "pl" or "arrow", not {name!r}')
    if how == "zip":
        if found is not _AWKWARD:
            raise ValueError('how="zip" is for library="ak"')
    elif found is not _ROWS and how not in (None, dict, tuple, list):
        raise ValueError(f'how must be None, dict, tuple, list or "zip", not {how!r}')
    needed, module, name_of_class = found
    package(needed)
    made: Library = getattr(package(f"forthwith._interop.{module}"), name_of_class)(how, logical)
    return made
