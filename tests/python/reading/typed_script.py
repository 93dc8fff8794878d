"""A script as users write it: test_types has a type checker say what it is made of."""

from typing import reveal_type

import forthwith

file = forthwith.open("events.root")
tree = file["events"]
chain = forthwith.open(["a.root", "b.root"])
reveal_type(forthwith.open)  # open
reveal_type(file)  # file
reveal_type(tree["x"])  # item
reveal_type(chain)  # chain
reveal_type(tree.keys())  # keys
reveal_type(tree.num_entries)  # entries
reveal_type(tree.arrays(["x"], library="np"))  # np
reveal_type(tree.arrays(["x"], library="numpy", entry_stop=3, filter_name="x", errors="skip"))  # numpy
reveal_type(tree.arrays(library="pl"))  # pl
reveal_type(tree.arrays(library="polars", threads=2))  # polars
reveal_type(tree.arrays(how=dict))  # dict
reveal_type(tree.arrays(library="np", how=list))  # list
reveal_type(tree["x"].array(library="np"))  # array_np
reveal_type(tree["x"].array(library="pl", entry_start=5))  # array_pl
reveal_type(tree.iterate(["x"], library="np", step_size="10 MB"))  # iterate_np
reveal_type(tree.iterate(["x"], library="np", report=True))  # iterate_report
reveal_type(chain.arrays(library="np", missing="null"))  # chain_np
reveal_type(forthwith.concatenate("*.root", library="pl"))  # concatenate_pl
reveal_type(forthwith.iterate("*.root", library="np", report=True))  # files_report
for name, branch in tree.items():
    reveal_type(name)  # name
    reveal_type(branch)  # branch
with forthwith.open("a.root") as opened:
    reveal_type(opened["t"].select(["x"]))  # selection
tree.arrays(["x"], library="nope")  # wrong_library
tree.arrays(["x"], cuts="x > 5")  # wrong_keyword
tree["x"].array(entry_start="5")  # wrong_type
