"""Python classes of C++ classes by their names in uproot, such as ``uproot.models.TH.Model_TH1F_v3``, for ``isinstance``."""

from __future__ import annotations

from typing import Any

from forthwith.uproot._model import Held, HeldSequence, HeldText, class_of, classname_decode

_SEQUENCES = ("TClonesArray", "THashList", "TList", "TObjArray", "TObjectSet", "TRefArray", "TSeqCollection")


def __getattr__(name: str) -> Any:
    """The class of objects that are read from files."""
    if not name.startswith("Model_"):
        raise AttributeError(name)
    classname, version = classname_decode(name)
    if classname in ("TObjString", "TString"):
        return HeldText
    return class_of(classname, version, HeldSequence if classname in _SEQUENCES else Held)
