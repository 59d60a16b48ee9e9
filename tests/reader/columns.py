"""Sealed frames of columns, and numbers in octaves: FORMAT.md, sections 4 and 7."""

import io

import zstandard
from xxhash import xxh64_intdigest as xxh64

COUNTS, BIG_COUNTS, LENGTHS, SCORES = (6, 3), (4, 2), (5, 3), (2, 1)

# The column of low bits, by the number of columns.
LOW_BITS = {10: 4, 16: 11, 17: 16, 29: 16}


def check(condition, problem):
    if not condition:
        raise ValueError(problem)


class Columns:
    """The columns of a frame. Each is read from its beginning to its end."""

    def __init__(self, data):
        frame, seal = data[:-8], int.from_bytes(data[-8:], "little")
        check(xxh64(frame) == seal, "the seal differs")
        decoder = zstandard.ZstdDecompressor().decompressobj()
        content = io.BytesIO(decoder.decompress(frame))
        check(len(data) % 16 == 0, "the length is not a multiple of 16")
        check(decoder.unused_data in [bytes(n) for n in range(16)], "the frame does not end with zeros")
        self.columns = [content]
        lengths = [self.leb128(0) for _ in range(self.leb128(0))]
        self.columns = [io.BytesIO(self.take(0, length)) for length in lengths]
        check(not content.read(), "the frame does not end with its last column")
        low = LOW_BITS[len(lengths)]
        # A one follows the last bit, so that `end` knows whether all bits are used.
        self.low = int.from_bytes(self.rest(low) + b"\1", "little")

    def rest(self, column):
        return self.columns[column].read()

    def take(self, column, count):
        data = self.columns[column].read(count)
        check(len(data) == count, f"column {column} ends too early")
        return data

    def byte(self, column):
        return self.take(column, 1)[0]

    def leb128(self, column):
        byte = self.byte(column)
        return byte if byte < 128 else byte - 128 + 128 * self.leb128(column)

    def octave(self, column, parameters, signed=False):
        d, kept = parameters
        symbol, negative = divmod(self.byte(column), 2) if signed else (self.byte(column), False)
        number = symbol
        if symbol >= 1 << d:
            octave, high = divmod(symbol - (1 << d), 1 << kept)
            b = d + octave - kept
            number = ((1 << kept) + high << b) + self.low % (1 << b)
            self.low >>= b
        return -number if negative else number

    def end(self):
        check(self.low in [1 << n for n in range(8)], "low bits are missing or left")
        left = [number for number, column in enumerate(self.columns) if column.read()]
        check(not left, f"columns {left} are not used up")


def unzigzag(number):
    return -(number + 1) // 2 if number % 2 else number // 2
