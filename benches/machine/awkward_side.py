"""The dumped programs and bytes through awkward's own machines.

    awkward_side.py DIR [--seconds S] [part of a name]...

One JSON object a line: the best time of ForthMachine32 and ForthMachine64, with outputs at their default size and with room for all from
the start, and a checksum over all columns, formed as the Rust side forms it.
"""

import argparse
import json
import pathlib
import time

import numpy as np
from awkward.forth import ForthMachine32, ForthMachine64


def checksum(columns: list[np.ndarray], answer: int) -> str:
    """FNV-1a, eight bytes at a time, each column padded with zeros."""
    state = 0xCBF29CE484222325
    prime, mask = 0x100000001B3, (1 << 64) - 1
    answer_bytes = np.array([answer], dtype="<i8").view(np.uint8)
    for column in [*columns, answer_bytes]:
        data = np.ascontiguousarray(column).view(np.uint8).reshape(-1)
        padded = np.zeros(-(-len(data) // 8) * 8, dtype=np.uint8)
        padded[: len(data)] = data
        for word in padded.view("<u8").tolist():
            state = ((state ^ word) * prime) & mask
    return f"{state:016x}"


def main() -> None:
    """Times every dumped case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--large", action="store_true", help="what the dump was made with")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for path in sorted(options.folder.glob("*.fs")):
        if options.names and not any(name in path.stem for name in options.names):
            continue
        one = json.loads(path.with_suffix(".json").read_text())
        # The reference machine wants writable buffers for big-endian items.
        inputs = {name: np.fromfile(path.with_name(f"{path.stem}.{name}.bin"), dtype=np.uint8) for name in one["inputs"]}
        total = sum(len(data) for data in inputs.values())
        result = {"case": path.stem, "large": options.large}
        for bits, kind in [(32, ForthMachine32), (64, ForthMachine64)]:
            for label, size in [("default", 1024), ("sized", max(1024, total * 4))]:
                machine = kind(path.read_text(), output_initial_size=size)
                best, spent = float("inf"), 0.0
                while best == float("inf") or spent < options.seconds:
                    start = time.perf_counter()
                    machine.begin(inputs)
                    for number in one["start"]:
                        machine.stack_push(number)
                    machine.resume()
                    while not machine.is_done:
                        machine.resume()
                    elapsed = time.perf_counter() - start
                    best, spent = min(best, elapsed), spent + elapsed
                result[f"{bits} {label}"] = best
        if not options.large:
            answer = machine.stack[-1] if one["answer"] else 0
            columns = [np.asarray(column) for column in machine.outputs.values()]
            result["checksum"] = checksum(columns, answer)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
