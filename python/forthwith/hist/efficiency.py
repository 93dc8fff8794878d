"""Efficiencies: the ratio of two histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._forthwith import efficiency_errors, efficiency_values
from forthwith._guard import guarded
from forthwith._packages import package as _package
from forthwith.hist.drawing import Plotted
from forthwith.hist.histograms import over

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis, Numbers
    from forthwith.hist.histograms import Histogram


@guarded
class Efficiency(Plotted):
    """A ``TEfficiency``: the fraction of entries in each bin that passed."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"MEAN"``, as efficiencies are means of ones and zeros."""
        return "MEAN"

    @property
    def total(self) -> Histogram:
        """The histogram of all entries."""
        found: Histogram = self.member("fTotalHistogram")
        return found

    @property
    def passed(self) -> Histogram:
        """The histogram of passed entries."""
        found: Histogram = self.member("fPassedHistogram")
        return found

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return self.total.axes

    def counts(self, flow: bool = False) -> Numbers:
        """Returns the number of all entries in each bin, in the shape of `values`."""
        return self.total.values(flow)

    def values(self, flow: bool = False) -> Numbers:
        """Returns the efficiencies, as ``GetEfficiency`` does, with one dimension for each axis."""
        return self._flat(efficiency_values(*self._core()), flow)

    def _core(self) -> tuple[Any, int, str, str]:
        """Returns the object in Rust, and file and path for errors."""
        return self._record.core, self._number, self.file.file_path, self.object_path

    def _flat(self, numbers: bytes, flow: bool) -> Numbers:
        """Reshapes numbers in ROOT's order of bins to the shape of `values`."""
        return self.total._shaped(np.frombuffer(numbers, dtype=np.float64), flow)

    def lower(self, flow: bool = False, level: float | None = None) -> Numbers:
        """Returns the lower errors of the confidence intervals, as ``GetEfficiencyErrorLow`` does.

        The statistic option of the object selects the interval: Clopper-Pearson, normal approximation,
        Wilson, Agresti-Coull, Feldman-Cousins, Bayesian with any prior, or mid-P.

        Args:
            flow: Whether to include underflow and overflow.
            level: The confidence level; by default that of the object.
        """
        return self._errors(flow, level)[0]

    def upper(self, flow: bool = False, level: float | None = None) -> Numbers:
        """Returns the upper errors, as ``GetEfficiencyErrorUp`` does. See `lower`."""
        return self._errors(flow, level)[1]

    def _errors(self, flow: bool, level: float | None) -> tuple[Numbers, Numbers]:
        record, number, *place = self._core()
        below, above = efficiency_errors(record, number, level, *place)
        return self._flat(below, flow), self._flat(above, flow)

    def _drawn_errors(self) -> Numbers | None:
        return (self.lower() + self.upper()) / 2

    def variances(self, flow: bool = False) -> Numbers:
        """Returns the variances in the normal approximation, which `lower` and `upper` do not use."""
        total, values = self.total.values(flow).astype(np.float64), self.values(flow)
        return over(values * (1 - values), total, total != 0)

    def to_boost(self) -> Any:
        """Converts the efficiency to a ``boost_histogram.Histogram`` of means of ones and zeros."""
        bh = _package("boost_histogram")
        has_weights = self.total.weighted
        made, cut = self._made(bh.storage.WeightedMean() if has_weights else bh.storage.Mean())
        view = made.view(flow=True)
        counts, values = self.counts(True)[cut].astype(np.float64), self.values(True)[cut]
        view.value = values
        if has_weights:
            view.sum_of_weights, view.sum_of_weights_squared = counts, self.total.variances(True)[cut]
            view["_sum_of_weighted_deltas_squared"] = counts * values * (1 - values)
        else:
            view.count, view["_sum_of_deltas_squared"] = counts, counts * values * (1 - values)
        return made
