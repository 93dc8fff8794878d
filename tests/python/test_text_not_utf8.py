"""Text of trees that is not UTF-8, which ROOT allows and Arrow does not: the error names branch and entry."""

import numpy as np
import pytest

import forthwith

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("library", ["pd", "pl", "arrow"])
def test_text_that_arrow_refuses_is_named(tmp_path, library):
    texts = np.array(["a", "b", "5 \udcb5m"], object)
    with forthwith.recreate(tmp_path / "t.root") as file:
        bytes_ = [text.encode(errors="surrogateescape") for text in texts]
        file["t"] = {"s": bytes_}
    with forthwith.open(f"{tmp_path}/t.root:t") as tree:
        assert tree["s"].array(library="np").tolist() == texts.tolist()
        for start in (0, 1):
            with pytest.raises(forthwith.DamagedFileError, match=r'b"5 \\xb5m"') as caught:
                tree.arrays(["s"], library=library, entry_start=start)
            assert (caught.value.object, caught.value.entry) == ("t/s", 2)
