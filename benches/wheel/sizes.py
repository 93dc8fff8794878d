"""sizes.py EXTENSION [CRATE ...]: machine code of an extension with symbols, by crate, and of some crates by module.

A function counts for the first crate in its name that is not of the standard library: instances of generic functions count for
the crate whose types they are of, where the name tells.
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

STANDARD = {"core", "alloc", "std", "hashbrown", "compiler_builtins"}
#: Prefixes of the functions of libraries in C and of the standard library's machinery.
PREFIXES = {
    "ring": ("ring_core", "ecp_", "p256_", "x25519_", "bn_", "GFp_", "fiat_"),
    "zstd": (
        "ZSTD_",
        "HUF_",
        "FSE_",
        "HIST_",
        "ZSTDMT_",
        "COVER_",
        "ZBUFF",
        "XXH",
        "HUFv",
        "FSEv",
        "ERR_",
        "POOL_",
        "ZDICT_",
    ),
    "liblzma": (
        "lzma_",
        "lz_",
        "rc_",
        "stream_",
        "block_",
        "alone_",
        "index_",
        "x86_code",
        "simple_",
        "delta_",
        "auto_decode",
    ),
    "libdeflater": ("deflate_", "libdeflate_", "adler32_", "crc32_"),
}
#: Names of crates and modules.
PATH = re.compile(r"\b([a-z_][a-z0-9_]*)(?:\[[0-9a-f]+\])?::")


def symbols(extension: Path) -> list[tuple[int, str]]:
    """Size and name of each function of an extension; of several names for one address, one."""
    listing = subprocess.run(
        ["nm", "-C", "--print-size", "--defined-only", extension], check=True, capture_output=True, text=True
    ).stdout
    found: dict[int, tuple[int, str]] = {}
    for line in listing.splitlines():
        parts = line.split(maxsplit=3)
        if len(parts) == 4 and parts[2] in "tTwW":
            found[int(parts[0], 16)] = (int(parts[1], 16), parts[3])
    return list(found.values())


def owner(name: str) -> str:
    """The crate that a function counts for."""
    paths = list(PATH.finditer(name))
    begins = [path.group(1) for path in paths if path.start() == 0 or name[path.start() - 1] != ":"]
    own = next((crate for crate in begins if crate not in STANDARD), None)
    if own or paths:
        return own or "std"
    found = (library for library, prefixes in PREFIXES.items() if name.startswith(prefixes))
    return next(found, "C and others")


def module(name: str, crate: str, depth: int = 2) -> str:
    """The modules of a crate that a function's name begins with."""
    found = re.search(rf"\b{crate}(?:\[[0-9a-f]+\])?((?:::[a-z_][a-z0-9_]*)*)", name)
    parts = [part for part in (found.group(1) if found else "").split("::") if part]
    return "::".join([crate, *parts[:depth]])


def table(sizes: collections.Counter[str], counts: collections.Counter[str], total: int, most: int = 60) -> None:
    """Prints rows by size."""
    for name, size in sizes.most_common(most):
        print(f"| {name} | {size / 1e6:.2f} | {100 * size / total:.1f} | {counts[name]} |")


def main(arguments: list[str]) -> int:
    """Prints the tables."""
    if not arguments:
        raise SystemExit(__doc__)
    functions = symbols(Path(arguments[0]))
    total = sum(size for size, _ in functions)
    if not functions:
        raise SystemExit(f"{arguments[0]} has no symbols: it is stripped")
    print(
        f"{len(functions)} functions, {total / 1e6:.2f} MB\n\n| crate | MB | % | functions |\n| --- | ---: | ---: | ---: |"
    )
    sizes, counts = collections.Counter(), collections.Counter()
    for size, name in functions:
        sizes[owner(name)] += size
        counts[owner(name)] += 1
    table(sizes, counts, total)
    for crate in arguments[1:]:
        sizes, counts = collections.Counter(), collections.Counter()
        for size, name in functions:
            if owner(name) == crate:
                sizes[module(name, crate)] += size
                counts[module(name, crate)] += 1
        print(f"\n| {crate} | MB | % | functions |\n| --- | ---: | ---: | ---: |")
        table(sizes, counts, total, 25)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
