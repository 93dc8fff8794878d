"""Keeps a sparse file small: ``python pieces.py FILE`` writes ``FILE.sparse`` with the parts of FILE that are stored.

The form is a line with the size of the whole, then for each part a line with its offset and length, and its bytes.
``restore(sparse, path)`` makes the file again, as a sparse one.
"""
import os
import sys


def parts(path):
    """(offset, bytes) of the parts of a file that are not holes, less the zeros at their ends."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        end = 0
        while end < size:
            try:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
            except OSError:  # nothing but a hole is left
                return
            end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            file.seek(start)
            data = file.read(end - start).rstrip(b"\0")
            kept = data.lstrip(b"\0")
            yield start + len(data) - len(kept), kept


def restore(sparse, path):
    with open(sparse, "rb") as source, open(path, "wb") as file:
        file.truncate(int(source.readline()))
        while line := source.readline():
            offset, length = map(int, line.split())
            file.seek(offset)
            file.write(source.read(length))


if __name__ == "__main__":
    name = sys.argv[1]
    with open(name + ".sparse", "wb") as out:
        out.write(b"%d\n" % os.path.getsize(name))
        for offset, data in parts(name):
            out.write(b"%d %d\n" % (offset, len(data)) + data)
