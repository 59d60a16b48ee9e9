"""Starts gcp-storage-emulator on a free port and prints its address. Adds the parts of Google's XML API that the program uses and
the emulator lacks: lists, heads, ranges, removal, and writing on the condition of a generation."""

import json
import re
import threading
import time
from datetime import datetime, timezone
from email.utils import formatdate
from functools import partial
from hashlib import md5
from http.server import ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs, unquote, urlparse
from xml.sax.saxutils import escape

from gcp_storage_emulator.exceptions import NotFound
from gcp_storage_emulator.handlers import buckets
from gcp_storage_emulator.server import RequestHandler
from gcp_storage_emulator.storage import Storage

BUCKET = "shelf"
lock = threading.Lock()
generations = count(1_000)


class Handler(RequestHandler):
    def name(self):
        path = unquote(urlparse(self.path).path)
        return path[len(BUCKET) + 2 :] if path.startswith(f"/{BUCKET}/") else None

    def answer(self, status, headers=None, body=b""):
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def find(self, name):
        try:
            return self.storage.get_file_obj(BUCKET, name)
        except NotFound:
            return None

    def do_GET(self):
        with lock:
            if self.name() is None:
                return self.list()
            found = self.find(self.name())
            if found is None:
                return self.answer(404)
            content = self.storage.get_file(BUCKET, self.name())
        status, headers = 200, dict(found["told"], **{"Last-Modified": formatdate(found["time"], usegmt=True)})
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted:
            first, last = int(wanted[1]), min(int(wanted[2]), len(content) - 1)
            if first > last:
                return self.answer(416)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
            status, content = 206, content[first : last + 1]
        self.answer(status, headers, content)

    do_HEAD = do_GET

    def list(self):
        query = parse_qs(urlparse(self.path).query)
        prefix = query.get("prefix", [""])[0]
        names = [item["name"] for item in self.storage.get_file_list(BUCKET, prefix)[0]]
        files = ""
        for name in names:
            if "/" in name[len(prefix) :]:
                continue
            found = self.find(name)
            files += (
                f"<Contents><Key>{escape(name)}</Key><Size>{found['size']}</Size>"
                f"<LastModified>{found['updated']}</LastModified><ETag>{found['told']['ETag']}</ETag></Contents>"
            )
        self.answer(200, {}, f"<ListBucketResult>{files}</ListBucketResult>".encode())

    def do_PUT(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with lock:
            found = self.find(self.name())
            expected = self.headers.get("x-goog-if-generation-match")
            if expected is not None and expected != (found["told"]["x-goog-generation"] if found else "0"):
                return self.answer(412)
            told = {key: value for key, value in self.headers.items() if key.lower().startswith("x-goog-meta-")}
            told |= {"Content-Type": self.headers.get("Content-Type"), "Cache-Control": self.headers.get("Cache-Control", "")}
            told |= {"ETag": f'"{md5(content).hexdigest()}"', "x-goog-generation": str(next(generations))}
            now = time.time()
            updated = datetime.fromtimestamp(now, timezone.utc)
            resource = {"name": self.name(), "bucket": BUCKET, "size": len(content), "told": told, "time": now}
            resource["updated"] = updated.isoformat().replace("+00:00", "Z")
            self.storage.create_file(BUCKET, self.name(), content, json.loads(json.dumps(resource)))
        self.answer(200, {"ETag": told["ETag"], "x-goog-generation": told["x-goog-generation"]})

    def do_DELETE(self):
        with lock:
            try:
                self.storage.delete_file(BUCKET, self.name())
            except NotFound:
                return self.answer(404)
        self.answer(204)


storage = Storage(use_memory_fs=True)
buckets.create_bucket(BUCKET, storage)
server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, storage))
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
