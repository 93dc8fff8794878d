"""Decoded values do not depend on the processor: each generation of kernels, forced, gives the same values."""

import os
import subprocess
import sys

import pytest
from conftest import DATA

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the sources are not here")

# One digest of all columns of files of each format, and the generation that the machine says it runs.
SCRIPT = """
import hashlib, pathlib, sys
import forthwith
from forthwith.forth import ForthMachine64

digest = hashlib.sha256()
for name in sys.argv[1:]:
    file = forthwith.open(name)
    trees = [key for key, of in file.classnames().items() if of == "TTree"] if name.endswith(".root") else [None]
    for key in trees:
        tree = file if key is None else file[key]
        for column in tree.keys():
            try:
                values = tree[column].array(library="ak").tolist()
            except forthwith.ForthwithError as error:
                values = str(error)
            digest.update(repr((name, key, column, values)).encode())
print(digest.hexdigest(), ForthMachine64("input x output y int64 x q-> y").explain().splitlines()[0])
"""


def files():
    """Small files of the three formats: kernels, programs with and without lists, levels and dictionaries."""
    names = ["leaves.root", "vectors.root", "layout.root", "packed.root", "nested.root"]
    found = [DATA / name for name in names]
    found += sorted((DATA / "avro").glob("*.avro"))[:8] + sorted((DATA / "parquet").glob("*.parquet"))[:12]
    return [str(path) for path in found]


@pytest.mark.slow
def test_each_generation_reads_alike():
    answers = {}
    for generation in ("baseline", "avx2", "avx512", ""):
        environment = os.environ | {"FORTHWITH_KERNELS": generation, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", SCRIPT, *files()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        answers[generation] = done.stdout.strip()
    assert len({answer.split()[0] for answer in answers.values()}) == 1, answers
    assert answers["baseline"].endswith("baseline"), answers
    assert not answers["avx2"].endswith("AVX-512"), answers
