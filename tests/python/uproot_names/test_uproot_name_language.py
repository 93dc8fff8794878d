"""The languages of expressions that scripts for uproot name."""

from __future__ import annotations

import numpy as np
import pytest

import forthwith
from forthwith import uproot


def test_other_languages_are_refused(tmp_path):
    path = tmp_path / "t.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "f8"}).extend({"x": np.arange(4.0)})
        file.mkrntuple("n", {"x": np.arange(4.0)})
    language = uproot.language.python.PythonLanguage
    with uproot.open(path) as file:
        for table in (file["t"], file["n"]):
            for same in (None, language(), uproot.language.python.python_language):
                assert len(table.arrays(["y"], aliases={"y": "x + 1"}, cut="x > 1", language=same)) == 2
            for other in (language(functions={"f": abs}), language(getter="column"), object()):
                with pytest.raises(forthwith.UnsupportedError, match="expressions"):
                    table.arrays(["x"], cut="x > 1", language=other)
                with pytest.raises(forthwith.UnsupportedError, match="expressions"):
                    list(table.iterate(["x"], cut="x > 1", language=other))
