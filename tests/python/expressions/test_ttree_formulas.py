"""Aliases that a tree has itself, computed as C++ ROOT computes them."""

import pytest
import random_formulas
from root_judge import need_root


@pytest.mark.parametrize("seed", [1, 2])
def test_random_aliases_are_those_of_ttreeformula(seed):
    need_root()
    wrong, number = random_formulas.differences(seed, 60)
    assert wrong == []
    assert number > 50
