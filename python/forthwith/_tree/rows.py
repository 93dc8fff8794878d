"""Reading entry by entry, which tables of all kinds have in common."""

from __future__ import annotations

from itertools import chain

from forthwith import _keywords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith._interop.avro_values import UnionNames
    from forthwith._tree.read import Names


class HasRows:
    """Rows over what ``iterate`` reads."""

    # The arguments of ``iterate``.
    _iterated: frozenset[str]
    iterate: Any

    def rows(
        self,
        names: Names = None,
        *,
        step_size: int | str = "8 MB",
        union_names: UnionNames | None = None,
        **options: Any,
    ) -> Iterator[Any]:
        """Reads entry by entry: a dict for each, from names to values of Python's own classes.

        Decimals are ``decimal.Decimal``, times ``datetime`` (with a zone, where they have one), ``date``, ``time`` and
        ``timedelta``, maps are dicts, and UUIDs of Avro ``uuid.UUID``. Times in nanoseconds are numbers in Avro files;
        elsewhere those that ``datetime`` does not have are an `UnsupportedError`. Values that are not records are given as
        they are.

        Args:
            names: As in `arrays`.
            step_size: The entries that are read at a time, as in `iterate`.
            union_names: The values of unions in Avro files that are pairs of the name of their type and the value:
                ``"records"``, or of all ``"types"`` with names, which are also enums and fixed ones; ``"several records"``
                and ``"several types"`` only in unions of more than one of these. `write_avro` takes such pairs.
            options: As in `iterate`, but for ``library``, ``how``, ``logical`` and ``report``.
        """
        not_here = _keywords.NOT_OF_ROWS
        _keywords.refuse("rows", options.keys() & not_here, {"union_names", *self._iterated} - not_here)
        steps = self.iterate(names, step_size=step_size, library="rows", how=union_names, **options)
        return chain.from_iterable(steps)

    def to_list(self, names: Names = None, **options: Any) -> list[Any]:
        """All rows as a list; the arguments are those of `rows`."""
        return list(self.rows(names, **options))
