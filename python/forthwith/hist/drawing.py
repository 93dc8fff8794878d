"""Drawing of objects with bins on terminals and in notebooks, and conversion for other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import ForthwithError, KeyInFileError, RequestIndexError, RequestTypeError
from forthwith._forthwith import safe_text
from forthwith._guard import guarded
from forthwith._objects import Object
from forthwith._packages import package as _package
from forthwith.hist import svg
from forthwith.hist.grid import Grid, Side, lines
from forthwith.hist.indexing import chosen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from forthwith.hist.axis import Axis, Numbers
    from forthwith.hist.indexing import Chosen


@guarded
class Drawn(Object):
    """An object with bins that have values."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"COUNT"``, or ``"MEAN"`` if values of several bins cannot be summed."""
        raise NotImplementedError

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        raise NotImplementedError

    def values(self, flow: bool = False) -> Numbers:
        """Returns the values of the bins, as an array with one dimension for each axis, x first."""
        raise NotImplementedError

    def show(self, width: int = 60, rows: int = 40, file: TextIO | None = None) -> None:
        """Prints a drawing: bars in one dimension, shades in two, and sums or means along others.

        Args:
            width: Maximum number of characters in a line.
            rows: Maximum number of lines; neighbouring bins are merged to fit.
            file: The output stream; standard output by default.
        """
        import sys

        (sys.stdout if file is None else file).write("\n".join(map(safe_text, self._drawing(width, rows))) + "\n")

    def _drawing(self, width: int, rows: int) -> list[str]:
        grid = self._grid()
        return [repr(self), *lines(grid, width)] if grid is not None else self._bars(width, rows)

    def _grid(self) -> Grid | None:
        """Returns the grid of a drawing in two dimensions; ``None`` for one dimension."""
        values = self.values().astype(np.float64)
        if values.ndim < 2:
            return None
        axes, has_means, note = self.axes, self.kind != "COUNT", ""
        if values.ndim > 2:
            behind = tuple(range(2, values.ndim))
            with np.errstate(all="ignore"):
                values = values.mean(axis=behind) if has_means else values.sum(axis=behind)
            called = ", ".join(axes[at].title or ("z" if at == 2 else f"axis {at}") for at in behind)
            note = f"{'means' if has_means else 'sums'} along {called}"
        return Grid(values, Side.of(axes[0]), Side.of(axes[1]), has_means, note)

    def _bars(self, width: int, rows: int) -> list[str]:
        values = self.values().astype(np.float64)
        together = max(1, -(-len(values) // max(1, rows)))
        shown = [values[at : at + together] for at in range(0, len(values), together)]
        sums = [float(part.sum() if self.kind == "COUNT" else part.mean()) for part in shown]
        finite = [value for value in sums if np.isfinite(value)]
        most, least = max([*finite, 0.0]), min([*finite, 0.0])
        names = self._bin_names(together)[: len(sums)]
        left, right = max(map(len, names), default=1), max((len(f"{value:g}") for value in sums), default=1)
        lines = [repr(self)]
        for name, value in zip(names, sums, strict=True):
            share = (value - least) / (most - least) if most > least and np.isfinite(value) else 0.0
            eighths = round(share * width * 8)
            bar = "█" * (eighths // 8) + ("▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else "")
            lines.append(f"{name:>{left}} │ {value:>{right}g} │{bar}")
        return lines

    def _bin_names(self, together: int) -> list[str]:
        """Returns the label or lower edge of each group of bins."""
        axis = self.axes[0]
        labels = axis.labels()
        return labels if labels and together == 1 else [f"{edge:g}" for edge in axis.edges()[::together]]

    def _repr_html_(self) -> str:
        from html import escape

        try:
            picture = self._picture()
        except ForthwithError as error:
            picture = f"<p>{escape(str(error))}</p>"
        return f"<p>{escape(repr(self))}</p>{picture}"

    def _picture(self) -> str:
        grid, words = self._grid(), self._words()
        if grid is not None:
            return svg.heat(grid, self.title or self.name, words)
        axis, errors = self.axes[0], self._drawn_errors()
        value_title = self._value_title()
        return svg.bars(
            self.values().astype(np.float64), errors, Side.of(axis), self.title or self.name, value_title, words
        )

    def _words(self) -> list[str]:
        """Returns the text beside a picture."""
        return []

    def _drawn_errors(self) -> Numbers | None:
        """Returns the errors that a picture shows; ``None`` without errors."""
        return None

    def _value_title(self) -> str:
        """Returns the title of the values, if the object has one."""
        return ""


@guarded
class Plotted(Drawn):
    """An object with bins along axes, with methods that other packages expect."""

    __slots__ = ()

    def axis(self, which: int | str = 0) -> Axis:
        """Returns an axis.

        Args:
            which: Number of the axis, or ``"x"``, ``"y"``, ``"z"``.

        Raises:
            RequestIndexError: The axis does not exist.
        """
        number = {"x": 0, "y": 1, "z": 2}.get(which, which) if isinstance(which, str) else which
        if not isinstance(number, int) or not -len(self.axes) <= number < len(self.axes):
            raise RequestIndexError(f"there is no axis {which!r}: the number of axes is {len(self.axes)}")
        return self.axes[number]

    def __getitem__(self, index: Any) -> Any:
        """Returns the content of a bin, a histogram of a selection, or the member of a name.

        Bins are counted from 0; ``2.5j`` is the bin with this value, and ``loc``, ``rebin``, ``underflow``
        and ``overflow`` of hist and boost-histogram are supported. ``h[2:5]`` keeps these bins, with others
        added to underflow and overflow. ``h[::sum]`` sums all bins including underflow and overflow, and
        ``h[::2j]`` merges pairs of bins. One index for each axis is required.

        Raises:
            RequestIndexError: A bin or axis does not exist (also an ``IndexError``).
            RequestTypeError: The index is invalid (also a ``TypeError``).
        """
        if isinstance(index, str):
            return self._named(index)
        picks = chosen(repr(self), self.axes, index)
        bins = [pick.bin for pick in picks]
        if None not in bins:
            return self.values(True)[tuple(bins)].item()
        return self._some(picks)

    def _named(self, name: str) -> Any:
        try:
            return self.member(name)
        except KeyInFileError as error:
            letters = "xyz"[: len(self.axes)]
            error.add_note(
                f"text in brackets is the name of a member; {name!r} as an axis is axis({name!r})"
                if name in letters
                else "text in brackets is the name of a member; bins are whole numbers, places such as 2.5j, or loc(...)"
            )
            raise

    def _some(self, picks: list[Chosen]) -> Any:
        """Returns a histogram of a selection of bins."""
        raise RequestTypeError(f"{self!r} has single bins only: of to_boost() there are slices, too")

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the values of the bins of a one-dimensional histogram."""
        if len(self.axes) != 1:
            raise RequestTypeError(f"{self!r} has several axes: iterate over values()")
        return iter(self.values().tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numbers:
        """Returns the values of the bins, as an array with one dimension for each axis, x first."""
        return np.asarray(self.values(), dtype=dtype)

    def variances(self, flow: bool = False) -> Numbers:
        """Returns the squares of `errors`."""
        raise NotImplementedError

    def errors(self, flow: bool = False) -> Numbers:
        """Returns the square roots of `variances`; NaN for negative variances, as in some sums."""
        with np.errstate(invalid="ignore"):
            found: Numbers = np.sqrt(self.variances(flow))
        return found

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """Returns values and edges as a tuple, as ``numpy.histogram`` does.

        Args:
            flow: Whether to include underflow and overflow, with edges at minus and plus infinity.
            dd: Whether all edges are one item of the tuple, as in ``numpy.histogramdd``.
        """
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(self) -> Any:
        """Converts the object to a ``boost_histogram.Histogram``. Requires boost-histogram."""
        raise NotImplementedError

    def to_hist(self) -> Any:
        """Converts the object to a ``hist.Hist``. Requires hist."""
        return _package("hist").Hist(self.to_boost())

    def _to_boost_histogram_(self) -> Any:
        # Called by the constructors of hist.Hist and boost_histogram.Histogram.
        return self.to_boost()

    def _made(self, storage: Any) -> tuple[Any, tuple[slice, ...]]:
        """Returns an empty boost-histogram, and the slices of our bins that it has."""
        made = _package("boost_histogram").Histogram(*(axis.to_boost() for axis in self.axes), storage=storage)
        made.name = self.name
        made.title = made.label = self.title
        return made, tuple(slice(0 if axis.traits.underflow else 1, None) for axis in made.axes)

    def __repr__(self) -> str:
        try:
            shape = " × ".join(str(len(axis)) for axis in self.axes)  # noqa: RUF001
        except ForthwithError:
            return f"<{self.classname} {self.name!r}, its bins not known>"
        return f"<{self.classname} {self.name!r} of {shape} bins>"
