"""Objects with bins: drawn on terminals and in notebooks, and, where they have axes, handed to other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import ForthwithError, RequestError
from forthwith._forthwith import safe_text
from forthwith._guard import guarded
from forthwith._objects import Object
from forthwith._packages import package as _package

if TYPE_CHECKING:
    from typing import TextIO

    from forthwith.hist.axis import Axis, Numbers


@guarded
class Drawn(Object):
    """What has bins with values."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"COUNT"``, or ``"MEAN"`` where values of several bins make no sum."""
        raise NotImplementedError

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        raise NotImplementedError

    def values(self, flow: bool = False) -> Numbers:
        """The values of the bins."""
        raise NotImplementedError

    def show(self, width: int = 60, rows: int = 40, file: TextIO | None = None) -> None:
        """Prints a drawing. Of several dimensions, the sums along the first."""
        import sys

        (sys.stdout if file is None else file).write("\n".join(map(safe_text, self._drawing(width, rows))) + "\n")

    def _drawing(self, width: int, rows: int) -> list[str]:
        values = self.values().astype(np.float64)
        if values.ndim > 1 and self.kind == "COUNT":
            values = values.sum(axis=tuple(range(1, values.ndim)))
        elif values.ndim > 1:
            return [repr(self), f"  {values.size} bins from {np.nanmin(values):g} to {np.nanmax(values):g}"]
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
        """Of each so many bins, that of the first."""
        axis = self.axes[0]
        labels = axis.labels()
        return labels if labels and together == 1 else [f"{edge:g}" for edge in axis.edges()[::together]]

    def _repr_html_(self) -> str:
        from html import escape

        try:
            picture = self._picture()
        except ForthwithError as error:
            picture = f"<p>{escape(str(error))}</p>"
        return f"<p>{escape(repr(self))}</p><p>{escape(self.title)}</p>{picture}"

    def _picture(self) -> str:
        values = self.values().astype(np.float64)
        if values.ndim > 1:
            values = values.sum(axis=tuple(range(1, values.ndim))) if self.kind == "COUNT" else values.ravel()
        values = np.nan_to_num(values)[:2000]
        most, least = max(values.max(initial=0), 0), min(values.min(initial=0), 0)
        span, step = (most - least) or 1, 600 / max(1, len(values))
        bars = "".join(
            f'<rect x="{at * step:.2f}" y="{160 * (most - max(value, 0)) / span:.2f}" width="{step:.2f}" '
            f'height="{160 * abs(value) / span:.2f}"/>'
            for at, value in enumerate(values.tolist())
        )
        return f'<svg viewBox="0 0 600 160" width="600" height="160" fill="#3572a5">{bars}</svg>'


@guarded
class Plotted(Drawn):
    """What has bins along axes, as other packages expect it."""

    __slots__ = ()

    def axis(self, which: int | str = 0) -> Axis:
        """One axis: a number, or ``"x"``, ``"y"``, ``"z"``."""
        number = {"x": 0, "y": 1, "z": 2}.get(which, which) if isinstance(which, str) else which
        if not isinstance(number, int) or not -len(self.axes) <= number < len(self.axes):
            raise RequestError(f"no axis {which!r}: there are {len(self.axes)}")
        return self.axes[number]

    def variances(self, flow: bool = False) -> Numbers:
        """The squares of `errors`."""
        raise NotImplementedError

    def errors(self, flow: bool = False) -> Numbers:
        """The square roots of `variances`."""
        found: Numbers = np.sqrt(self.variances(flow))
        return found

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """Values and edges as ``numpy.histogram`` gives them; with ``dd``, as ``numpy.histogramdd``."""
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(self) -> Any:
        """The object as boost-histogram has it."""
        raise NotImplementedError

    def to_hist(self) -> Any:
        """The object as hist has it."""
        return _package("hist").Hist(self.to_boost())

    def _to_boost_histogram_(self) -> Any:
        # What hist.Hist and boost_histogram.Histogram ask an object for that is to become one.
        return self.to_boost()

    def _made(self, storage: Any) -> tuple[Any, tuple[slice, ...]]:
        """An empty histogram of boost-histogram, and which of our bins it has: axes of labels have none below the first."""
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
