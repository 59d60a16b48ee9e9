"""Reads a Shelfish database as FORMAT.md describes it: the manifest and the pages, sections 3 and 5.
The other files read the other sections. Their numbers of columns are those of the text.

    python reader.py DATABASE [sha256-HASH]

prints the records as `shelfish export` does, and checks checksums, hashes, keys and totals.
"""

import base64
import functools
import hashlib
import json
import pathlib
import sys
from collections import Counter

from xxhash import xxh64_intdigest as xxh64

from book import Book
from columns import LENGTHS, Columns, check
from evaluations import evaluations
from positions import check_canonical, key, positions


def unbased(text):
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def hash_of(data):
    return hashlib.sha256(data).digest()[:16]


class Database:
    def __init__(self, folder, pin=None):
        self.folder = pathlib.Path(folder)
        data = (self.folder / "manifest.json").read_bytes()
        check(
            pin in (None, "sha256-" + hashlib.sha256(data).hexdigest()),
            "another manifest is pinned",
        )
        check(data.startswith(b'{"format":3,'), "another format")
        checksum = b',"checksum":"%016x"}\n' % xxh64(data[:-32])
        check(data.endswith(checksum), "the checksum of the manifest differs")
        self.manifest = json.loads(data)
        self.is_book = {"evaluations": False, "moves": True}[self.manifest["records"]]
        self.file = functools.cache(self.read_file)

    def read_file(self, name):
        data = (self.folder / name).read_bytes()
        check(name == hash_of(data).hex() + ".silo", f"{name} has another content")
        return data

    def records(self):
        """Yields the record of each position, in the order of the keys."""
        before, used, totals = b"", Counter(), Counter()
        for separator, data, file in self.blocks():
            entries = sorted(self.decode(data, separator), key=lambda entry: entry[0])
            check(before < separator <= entries[0][0] or not before, "a separator is wrong")
            used[file] += len(entries)
            for number, record in entries:
                check(number > before, "the keys of a database do not ascend")
                before = number
                totals.update(counted(**record))
                yield record
        counts = {shard["file"]: shard["positions"] for shard in self.manifest["shards"]}
        totals["positions"] = used.total()
        expected = {**self.manifest["totals"], "positions": self.manifest["positions"]}
        check(
            (used, totals) == (counts, expected), f"read {used}, {totals}, not {counts}, {expected}"
        )

    def blocks(self):
        """Yields separator, bytes and file of each block."""
        for shard in self.manifest["shards"]:
            data = self.file(shard["file"])
            check(len(data) == shard["bytes"], f"{shard['file']} has another size")
            at = len(data) - sum(length for _, length, _ in shard["pages"])
            carried = unbased(shard["carried"]) if "carried" in shard else data[at:]
            check(carried == data[at:], "the inline pages are not the end of the file")
            for separator, length, page_hash in shard["pages"]:
                page = data[at : at + length]
                at += length
                check(hash_of(page) == unbased(page_hash), "a page has another hash")
                blocks = self.page(page, shard["file"])
                check(blocks[0][0].hex() == separator, "a page has another separator")
                yield from blocks

    def page(self, data, own):
        """Returns the blocks of a leaf page."""
        columns = Columns(data, [10], low=4)
        others, lengths = columns.rest(8), columns.rest(0)
        names = [own] + [others[n : n + 16].hex() + ".silo" for n in range(0, len(others), 16)]
        offset = columns.leb128(9)
        hashes = self.file(own)[offset : offset + 16 * len(lengths)]
        check(hash_of(hashes) == columns.take(9, 16), "a list of hashes has another hash")
        ends, separator, blocks, left = Counter(), b"", [], 0
        for n, common in enumerate(lengths):
            if not left:
                left, file = columns.leb128(5), names[columns.leb128(6)]
                ends[file] += columns.leb128(7)
            left -= 1
            separator = separator[:common] + columns.take(2, columns.byte(1))
            at, size = ends[file], columns.octave(3, LENGTHS)
            block = self.file(file)[at : at + size]
            check(hash_of(block) == hashes[16 * n : 16 * n + 16], "a block has another hash")
            ends[file] += size
            blocks.append((separator, block, file))
        columns.end()
        return blocks

    def decode(self, data, separator):
        """Returns key and record of each position of a block."""
        columns = Columns(data, [17, 29], low=16) if self.is_book else Columns(data, [16], low=11)
        forest = positions(columns)
        keys = [key(node.board) for node in forest]
        for node in forest:
            check_canonical(node.board)
        records = Book(columns).records(forest) if self.is_book else evaluations(columns, forest)
        columns.end()
        return zip(keys, records)


def counted(moves=(), evals=None, **_):
    """Returns what a record adds to the totals of the manifest."""
    if evals is None:
        return {"moves": len(moves)}
    return {"evaluations": len(evals), "pvs": sum(len(entry["pvs"]) for entry in evals)}


if __name__ == "__main__":
    for record in Database(*sys.argv[1:]).records():
        print(json.dumps(record, separators=(",", ":"), ensure_ascii=False))
