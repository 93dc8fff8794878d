"""Reading of entries as Python objects, for all kinds of tables."""

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
    """Adds `rows` to a class with ``iterate``."""

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
        """Iterates over the entries as dicts from names to Python objects.

        Decimals are ``decimal.Decimal``, times ``datetime`` (with a time zone, if they have one), ``date``,
        ``time`` and ``timedelta``, maps are dicts, and UUIDs of Avro ``uuid.UUID``. Times in nanoseconds are
        integers for Avro files; for other formats, those that ``datetime`` cannot represent raise
        `UnsupportedError`. Values of tables without records are yielded directly.

        Args:
            names: As in `arrays`.
            step_size: Amount of data read at a time, as in `iterate`.
            union_names: Values of unions in Avro files that are returned as pairs of type name and value:
                ``"records"``, or all ``"types"`` with names, which include enums and fixed types; ``"several
                records"`` and ``"several types"`` only for unions with more than one of these. `write_avro`
                accepts such pairs.
            options: As in `iterate`, except ``library``, ``how``, ``logical`` and ``report``.
        """
        not_here = _keywords.NOT_OF_ROWS
        _keywords.refuse("rows", options.keys() & not_here, {"union_names", *self._iterated} - not_here)
        steps = self.iterate(names, step_size=step_size, library="rows", how=union_names, **options)
        return chain.from_iterable(steps)

    def to_list(self, names: Names = None, **options: Any) -> list[Any]:
        """Returns all rows as a list, with the arguments of `rows`."""
        return list(self.rows(names, **options))
