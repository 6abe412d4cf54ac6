"""Turn a folder of files into a small web server for previews, with nothing but the library.

It answers GET and HEAD for files of that folder. It lists no folders, follows no links out
of it, and tells browsers to store nothing, so that a reload shows the newest build.
"""

from __future__ import annotations

import os
import socket
import stat
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

# Stated here rather than asked of the machine, whose own table may say anything.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".xml": "application/xml; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".ico": "image/x-icon",
    ".pdf": "application/pdf",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".vtt": "text/vtt; charset=utf-8",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
}
OTHER_TYPE = "application/octet-stream"
NOT_FOUND_PAGE = "404.html"
_CHUNK_BYTES = 1 << 16
_IDLE_SECONDS = 30


def make_server(folder: Path, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """A server for `folder`, bound but not running yet; port 0 takes any free one."""
    root = os.path.realpath(os.fsencode(folder))

    class Handler(_StaticHandler):
        site = root

    server = _Server6 if ":" in host else _Server
    return server((host, port), Handler)


def _type(file: bytes) -> str:
    suffix = os.path.splitext(file)[1].decode("ascii", "replace")
    return TYPES.get(suffix.lower(), OTHER_TYPE)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        # A browser that closes a connection halfway is no news to whoever runs a preview.
        return


class _Server6(_Server):
    address_family = socket.AF_INET6


class _StaticHandler(BaseHTTPRequestHandler):
    site = b""
    server_version = "exactquote-preview"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS

    def do_GET(self) -> None:
        """Answer with the file that the path names."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer as to GET, without the body."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet; a preview has nothing to log."""

    def _answer(self, with_body: bool) -> None:
        path = urlsplit(self.path).path
        file = self._file(path)
        if file is None and not path.endswith("/") and self._file(f"{path}/") is not None:
            # Relative links of a folder's page are right only below its own address.
            self.send_response(HTTPStatus.MOVED_PERMANENTLY)
            self.send_header("Location", f"./{path.rpartition('/')[2]}/")
            self._end(0, None)
            return
        status = HTTPStatus.OK
        if file is None:
            status = HTTPStatus.NOT_FOUND
            file = self._file(f"/{NOT_FOUND_PAGE}")
        if file is None:
            body = b"<!doctype html><title>Not found</title><p>There is no such page.\n"
            self.send_response(status)
            self._end(len(body), TYPES[".html"])
            if with_body:
                self.wfile.write(body)
            return
        self._send(file, status, with_body)

    def _file(self, path: str) -> bytes | None:
        """The file that a request's path names, or None for whatever isn't one of the site."""
        if path.endswith("/"):
            path += "index.html"
        # Bytes all the way, since a site's file names are UTF-8 whatever the locale says.
        parts = unquote_to_bytes(path).split(b"/")
        # An encoded slash has become a real one by now, so it can hide no step upwards.
        names = parts[1:]
        if parts[0] or any(name in (b"", b".", b"..") or b"\0" in name for name in names):
            return None
        file = os.path.join(self.site, *names)
        if not os.path.realpath(file).startswith(self.site.rstrip(b"/") + b"/"):
            return None
        try:
            return file if stat.S_ISREG(os.stat(file).st_mode) else None
        except OSError:
            return None

    def _send(self, file: bytes, status: HTTPStatus, with_body: bool) -> None:
        try:
            stream = open(file, "rb")  # noqa: SIM115 - closed below, after the headers went out
        except OSError:
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        with stream:
            size = os.fstat(stream.fileno()).st_size
            self.send_response(status)
            self._end(size, _type(file))
            left = size if with_body else 0
            while left > 0:
                chunk = stream.read(min(_CHUNK_BYTES, left))
                if not chunk:
                    # The file shrank meanwhile; a cut connection tells the browser so.
                    self.close_connection = True
                    break
                self.wfile.write(chunk)
                left -= len(chunk)

    def _end(self, size: int, content_type: str | None) -> None:
        if content_type is not None:
            self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(size))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
