"""Which branches a call means, under which names, and what they are read as."""

from __future__ import annotations

from typing import Any

import numpy as np

from forthwith._errors import KeyInFileError
from forthwith.uproot._interpretation import AsDtype, Interpretation, UnknownInterpretation
from forthwith.uproot._options import no_filter


class Wanted:
    """One column of a result.

    Attributes:
        label: Its name there.
        branch: The branch.
        interpretation: What it is to be read as, if not as it usually is.
    """

    def __init__(self, label: str, branch: Any, interpretation: Interpretation | None = None) -> None:
        self.label, self.branch, self.interpretation = label, branch, interpretation


def filtered(owner: Any, filter_name: Any, filter_typename: Any, filter_branch: Any) -> list[Wanted]:
    """The branches that pass filters: those with data, and groups of which not all was chosen by itself.

    They have their own names; where two have the same, the second has its path, and none is lost.
    """
    found: list[tuple[str, Any, Interpretation | None]] = []
    for path, branch in owner.iteritems(filter_name=filter_name, filter_typename=filter_typename):
        said = True if filter_branch in (None, no_filter) else filter_branch(branch)
        if said is None or said is False:
            continue
        given = None if isinstance(said, bool) else interpretation_given(said)
        found.append((path, branch, given))
    if not found and owner._is_alone:
        found = [(owner.name, owner, None)]
    leaves = {id(branch) for _, branch, _ in found if not branch._is_group}
    grouped, inside = set(), set()
    for _, branch, _ in found:
        if branch._is_group and id(branch) not in inside:
            below = list(_below(branch))
            if any(not one._is_group and id(one) not in leaves and one._is_readable for one in below) or not below:
                grouped.add(id(branch))
                inside |= {id(one) for one in below}
    chosen = []
    for path, branch, given in found:
        readable = given is not None or branch._is_readable
        if id(branch) in grouped or (not branch._is_group and id(branch) not in inside and readable):
            chosen.append((path, branch, given))
    taken: set[str] = set()
    out = []
    for path, branch, given in chosen:
        label = branch.name if branch.name not in taken else path
        taken.add(label)
        out.append(Wanted(label, branch, given))
    return out


def _below(branch: Any) -> Any:
    for one in branch.branches:
        yield one
        yield from _below(one)


def named(owner: Any, expressions: Any) -> list[Wanted] | None:
    """The branches of names; ``None`` if something among them is an expression and no branch."""
    pairs = _pairs(expressions)
    out = []
    for name, given in pairs:
        if owner._is_alone and name == owner.name:
            branch = owner
        else:
            try:
                branch = owner[name]
            except KeyInFileError:
                if given is not None or name.isidentifier():
                    raise
                return None
        out.append(Wanted(name, branch, None if given is None else interpretation_given(given)))
    known: dict[str, Any] = {}
    for one in out:
        key = None if one.interpretation is None else one.interpretation.cache_key
        if known.setdefault(one.label, key) != key:
            raise ValueError(f"{one.label!r} is asked for twice, as different interpretations")
    return out


def _pairs(expressions: Any) -> list[tuple[str, Any]]:
    if isinstance(expressions, str):
        return [(expressions, None)]
    if hasattr(expressions, "items"):
        return list(expressions.items())
    if not hasattr(expressions, "__iter__"):
        raise TypeError(f"expressions are None, a name, or a list or dict of these, not {expressions!r}")
    return [one if isinstance(one, tuple) else (one, None) for one in expressions]


def names_of(expressions: Any) -> list[str]:
    """The texts of expressions.

    Raises:
        TypeError: One comes with an interpretation.
    """
    for name, given in _pairs(expressions):
        if given is not None:
            raise TypeError(f"{name!r} is computed: it has no interpretation")
    return [name for name, _ in _pairs(expressions)]


def interpretation_given(given: Any) -> Interpretation:
    """An interpretation that a call was given: one of these, or a dtype."""
    if isinstance(given, Interpretation):
        return given
    # A dtype without a byte order of its own means that of the file.
    return AsDtype(np.dtype(given).newbyteorder(">"))


def check(branch: Any) -> None:
    """Raises the error of a branch that cannot be read."""
    found = branch.interpretation
    if isinstance(found, UnknownInterpretation):
        found._raise()
