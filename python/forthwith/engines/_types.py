"""Types of the columns of partitions, which have to be equal for concatenation."""

from __future__ import annotations

from dataclasses import replace

from forthwith._errors import RequestError
from forthwith.engines._read import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from forthwith.engines._partition import Partition

    # A file, and the types of its columns by name.
    Known: TypeAlias = tuple[str, Mapping[str, str]]


def none_of(partition: Partition, library: str) -> Any:
    """Reads no entries of a partition, for the types of its columns."""
    return read(replace(partition, start=0, stop=0, bytes=0), library=library, threads=1)


def of_table(table: Any) -> dict[str, str]:
    """Returns the types of an Arrow table without nullability."""
    return {field.name: str(field.type).replace(" not null", "") for field in table.schema}


def check_same(known: Known, file: str, kinds: Mapping[str, str]) -> None:
    """Raises an error if columns differ, as the result would depend on the order of partitions.

    Raises:
        RequestError: A column has another type than in the first file, or is in only one of the files.
    """
    first, expected = known
    for name in dict.fromkeys([*expected, *kinds]):
        if kinds.get(name) != expected.get(name):
            raise RequestError(
                f"partitions must have one type: column {name!r} is {kinds.get(name, 'absent')} in {file}, and "
                f"{expected.get(name, 'absent')} in {first}",
                file=file,
            )
