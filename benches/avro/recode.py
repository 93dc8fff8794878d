"""recode.py FOLDER: the files of the folder again with every other codec, block for block."""

import pathlib
import sys
import zlib

import cramjam
import zstandard


def long(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at


def spell(value):
    value = value << 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def deflate(block):
    stream = zlib.compressobj(6, zlib.DEFLATED, -15)
    return stream.compress(block) + stream.flush()


CODECS = {
    "deflate": deflate,
    "snappy": lambda block: bytes(cramjam.snappy.compress_raw(block)) + zlib.crc32(block).to_bytes(4, "big"),
    "zstandard": zstandard.ZstdCompressor(level=3).compress,
}


def recode(path, codec, compress):
    data = path.read_bytes()
    head = data.index(b"forthwith-bench!") + 16
    name = b"avro.codec" + spell(4) + b"null"
    with path.with_name(f"{path.stem}-{codec}.avro").open("wb") as out:
        out.write(data[:head].replace(name, b"avro.codec" + spell(len(codec)) + codec.encode()))
        at = head
        while at < len(data):
            begin = at
            _, at = long(data, at)
            count = data[begin:at]
            size, at = long(data, at)
            block = compress(data[at : at + size])
            at += size
            out.write(count + spell(len(block)) + block + data[at : at + 16])
            at += 16


if __name__ == "__main__":
    for name in ("s1", "s3", "rec"):
        for codec, compress in CODECS.items():
            recode(pathlib.Path(sys.argv[1]) / f"{name}.avro", codec, compress)
