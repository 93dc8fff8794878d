"""Arrays behind pointers that were null when their branches were made, as C++ ROOT reads them: without entry offsets."""

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("late.root.values.json")


@pytest.mark.parametrize("name", GOLDEN)
def test_entries_are_what_root_reads_or_errors_where_one_is_longer(name):
    file, _, branch = name.partition("/")
    wanted = GOLDEN[name]
    lengths = [entry and len(entry) for entry in wanted]
    # Behind an entry that is longer than the first, no other is where ROOT looks for it.
    lost = next((at for at, length in enumerate(lengths) if None in lengths[at + 1 :] and length != lengths[0]), None)
    with forthwith.open(data(f"{file}.root")) as opened:
        branch = opened["t"][f"{branch}/{branch}tags"]
        if lost is None:
            assert branch.array().to_list() == wanted
            assert [
                entry
                for at in range(len(wanted))
                for entry in branch.array(entry_start=at, entry_stop=at + 1).to_list()
            ] == wanted
            return
        with pytest.raises(forthwith.DamagedFileError, match="byte") as caught:
            branch.array()
        assert caught.value.entry == lost
        assert branch.array(errors="null", lost=[]).to_list() == wanted[:lost] + [None] * (len(wanted) - lost)


def test_there_are_entries_of_which_nothing_can_be_told():
    assert sum(None in wanted for wanted in GOLDEN.values()) == 2
