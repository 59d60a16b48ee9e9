"""Reads a Shelfish database as FORMAT.md describes it: the manifest and the pages, sections 3 and 5. The other files read the other
sections. Their numbers of columns are those of the text.

    python reader.py DATABASE [sha256-HASH]

prints the records as `shelfish export` does, and checks everything that the text says of the files.
"""

import base64
import hashlib
import json
import pathlib
import sys

from xxhash import xxh64_intdigest as xxh64

from book import Book
from columns import Bits, Bytes, check, check_used, unsealed
from evaluations import evaluations
from positions import check_canonical, key, positions

FORMAT = 3
LONGEST = 266_240


def unbased(text):
    check("=" not in text, "Base64 has padding")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def hash_of(data):
    return hashlib.sha256(data).digest()[:16]


class Database:
    def __init__(self, folder, pin=None):
        self.folder = pathlib.Path(folder)
        data = (self.folder / "manifest.json").read_bytes()
        check(pin in (None, "sha256-" + hashlib.sha256(data).hexdigest()), "the manifest is not the pinned one")
        check(len(data) <= 8 << 20, "the manifest is above 8 MiB")
        start, checksum = data[:-32], data[-32:]
        check(data.startswith(b'{"format":%d,' % FORMAT), "another format")
        check(checksum == b',"checksum":"%016x"}\n' % xxh64(start), "the checksum of the manifest differs")
        self.manifest = manifest = json.loads(data)
        plain = json.dumps(manifest, separators=(",", ":"), ensure_ascii=False) + "\n"
        check(plain.encode() == data, "the manifest has white space")
        members = ["format", "records", "positions", "totals", "info", "shards", "checksum"]
        check(list(manifest) == members, f"the manifest has members {list(manifest)}")
        self.is_book = {"evaluations": False, "moves": True}[manifest["records"]]
        self.info, self.totals = manifest["info"], dict.fromkeys(manifest["totals"], 0)
        check(list(self.totals) == (["moves"] if self.is_book else ["evaluations", "pvs"]), "other totals")
        self.files = {}

    def file(self, file):
        if file not in self.files:
            data = (self.folder / file).read_bytes()
            check(file == hash_of(data).hex() + ".silo", f"{file} has another content")
            self.files[file] = data
        return self.files[file]

    def records(self):
        """Yields the record of each position, in the order of the keys."""
        used, blocks, positions = {}, self.blocks(), 0
        block = next(blocks)
        before = b""
        while block:
            following = next(blocks, None)
            separator, data, file = block
            check(separator == b"" or separator > before, "a separator is not above the keys before it")
            entries = sorted(self.decode(data, separator, following and following[0]), key=lambda entry: entry[0])
            first = entries[0][0]
            check(first >= separator, "a key is below its separator")
            shortest = next(n for n in range(len(first) + 1) if first[:n] > before) if before else 0
            check(separator == first[:shortest], "a separator is not the shortest")
            for number, record in entries:
                check(number > before, "the keys of a database do not ascend")
                before = number
                yield record
            check(not following or before < following[0], "a key is not below the next separator")
            count, size = used.get(file, (0, 0))
            used[file] = count + len(entries), size + len(data)
            positions += len(entries)
            block = following
        check(positions == self.manifest["positions"], "the manifest has another number of positions")
        check(self.totals == self.manifest["totals"], f"the manifest has other totals than {self.totals}")
        for shard in self.manifest["shards"]:
            count, size = used.pop(shard["file"], (0, 0))
            check(count == shard["positions"], f"{shard['file']} has {count} positions in use")
            check(shard.get("live", size) == size, f"{shard['file']} has {size} bytes in use")
        check(not used, f"the manifest lacks shards {used}")

    def blocks(self):
        """Yields separator, bytes and file of each block."""
        last = None
        inline = {"carried" in shard for shard in self.manifest["shards"] if shard["pages"]}
        check(len(inline) == 1, "some pages are inline, and others are not")
        for shard in self.manifest["shards"]:
            data = self.file(shard["file"])
            check(len(data) == shard["bytes"], f"{shard['file']} has another size")
            check(bool(shard["pages"]) != ("live" in shard), "a shard has pages or `live`")
            pages = [(bytes.fromhex(s), length, unbased(text)) for s, length, text in shard["pages"]]
            at = start = len(data) - sum(length for _, length, _ in pages)
            carried = unbased(shard["carried"]) if "carried" in shard else data[start:]
            check(carried == data[start:], "the inline pages are not the end of the file")
            lists_end = None
            for separator, length, page_hash in pages:
                check(separator == b"" if last is None else separator > last, "separators of pages do not ascend")
                last = separator
                page = data[at : at + length]
                at += length
                check(length <= LONGEST and hash_of(page) == page_hash, "a page has another hash")
                for block_separator, block, file, span in self.page(page, separator, shard["file"], start):
                    check(block_separator == separator or block_separator > last, "separators of blocks do not ascend")
                    last = block_separator
                    yield block_separator, block, file
                check(lists_end in (None, span[0]), "the lists of hashes do not follow one another")
                lists_end = span[1]
            check(lists_end in (None, start), "the lists of hashes do not end before the pages")

    def page(self, data, separator, own, start):
        """Yields the blocks of a leaf page: separator, bytes, file, and the place of the list of hashes."""
        columns = unsealed(data)
        check(len(columns) == 10, "a page has ten columns")
        common, rest, separators, symbols, low, runs, numbers, gaps, others, hashes = columns
        bits, names = Bits(low), [own]
        while others.left():
            names.append(others.take(16).hex() + ".silo")
        offset = hashes.leb128()
        count = len(common.data)
        length = 16 * count
        listed = self.file(own)[offset : offset + length]
        check(hash_of(listed) == hashes.take(16), "a list of hashes has another hash")
        ends, before, block_hashes = {}, b"", Bytes(listed)
        while runs.left():
            blocks, file = runs.leb128(), names[numbers.leb128()]
            at = ends.get(file, 0) + gaps.leb128()
            check(blocks > 0, "a run without blocks")
            for _ in range(blocks):
                before = before[: common.byte()] + separators.take(rest.byte())
                size = bits.octave(symbols, 5, 3)
                block = self.file(file)[at : at + size]
                check(size <= LONGEST and (file != own or at + size <= start), "a block is too long")
                check(hash_of(block) == block_hashes.take(16), "a block has another hash")
                at += size
                yield before, block, file, (offset, offset + length)
            ends[file] = at
        bits.end()
        check_used(columns)

    def decode(self, data, low, high):
        """Returns key and record of each position of a block."""
        columns = unsealed(data)
        forest = positions(columns)
        check(1 <= len(forest) <= 8192, "a block has 1 to 8,192 positions")
        keys = [key(node.board) for node in forest]
        check(keys[0] >= low and (high is None or keys[0] < high), "the first position is outside of the block")
        for node in forest:
            check_canonical(node.board)
        if self.is_book:
            records = Book(columns, self.info, self.totals).records(forest)
        else:
            records = evaluations(columns, forest, self.totals)
        check_used(columns)
        return zip(keys, records)


if __name__ == "__main__":
    for record in Database(*sys.argv[1:]).records():
        print(json.dumps(record, separators=(",", ":"), ensure_ascii=False))
