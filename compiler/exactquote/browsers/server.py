"""Serves a site, a folder or a mapping of paths to bytes, on a port of this machine alone."""

from __future__ import annotations

import mimetypes
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import parse_qs, unquote, urlsplit

PAINT = "paint"
"""The query `?paint=RRGGBB` asks for a page whose highlights are painted in that colour."""

PAINT_CLASS = "exactquote-paint"
"""Class of the elements that a page is painted with."""

_PAINT_PATH = ".exactquote-paint.css"
_COLOUR = re.compile(r"[0-9a-f]{6}")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xhtml": "application/xhtml+xml",
}


class Server:
    """A running server. Queries are ignored but for `paint`; no page may be cached.

    `site` is read at each request, so pages may be added to a mapping while it is served.
    Its keys have no leading slash. `headers` are sent with the page of that path.
    """

    def __init__(
        self,
        site: Mapping[str, bytes] | Path,
        headers: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Serve from now on, on a port that was free."""
        self._site = site.resolve() if isinstance(site, Path) else site
        self._headers = headers if headers is not None else {}
        self._http = _Http(("127.0.0.1", 0), _handler(self))
        self.origin = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, href: str) -> str:
        """The address here of a page of the site, with its query and fragment."""
        return f"{self.origin}/{href.removeprefix('/')}"

    def respond(self, target: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for the target of a request."""
        address = urlsplit(target)
        path = unquote(address.path).removeprefix("/")
        colour = parse_qs(address.query).get(PAINT, [""])[0]
        if path == _PAINT_PATH and _COLOUR.fullmatch(colour):
            return 200, {"Content-Type": _TYPES[".css"]}, _paint(colour).encode()
        name = f"{path}index.html" if not path or path.endswith("/") else path
        body = self._read(name)
        if body is None and self._read(f"{name}/index.html") is not None:
            query = f"?{address.query}" if address.query else ""
            return 308, {"Location": f"{address.path}/{query}"}, b""
        if body is None:
            return 404, {"Content-Type": _TYPES[".html"]}, b"<!doctype html><title>404</title>"
        kind = _type(name)
        if "html" in kind and _COLOUR.fullmatch(colour):
            body += _paint_tags(self.origin, colour)
        return 200, {"Content-Type": kind, **self._headers.get(name, {})}, body

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()

    def _read(self, name: str) -> bytes | None:
        if not isinstance(self._site, Path):
            return self._site.get(name)
        if "\0" in name:
            return None
        path = (self._site / name).resolve()
        # A link or ".." must not lead out of the site.
        if not path.is_relative_to(self._site) or not path.is_file():
            return None
        return path.read_bytes()

    def __enter__(self) -> Server:
        """The running server itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop serving."""
        self.close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    # Browsers open several connections at once, and several browsers may be asking.
    request_queue_size = 128
    # An open keep-alive connection must not hold up the end.
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that is killed leaves broken connections."""


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body leave in one packet, or delayed acknowledgements cost 40 ms a page.
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            status, headers, body = server.respond(self.path)
            self.send_response(status)
            for name, value in {"Cache-Control": _lifetime(headers), **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: output belongs to whoever runs the browsers."""

    return Handler


def _lifetime(headers: Mapping[str, str]) -> str:
    # Each landing loads its page anew; the styles and scripts of a site are the same for all.
    return "no-store" if "html" in headers.get("Content-Type", "") else "max-age=600"


def _type(name: str) -> str:
    suffix = Path(name).suffix.lower()
    return _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"


def _paint_tags(origin: str, colour: str) -> bytes:
    # They come at the very end of a page, where they can't move any text, nor the page's own
    # <meta charset>. A content security policy may forbid either of the two; the address is
    # absolute, since a page's <base> may lead elsewhere.
    href = f"{origin}/{_PAINT_PATH}?{PAINT}={colour}"
    style = f"<style class={PAINT_CLASS}>{_paint(colour)}</style>"
    return f'{style}<link class={PAINT_CLASS} rel=stylesheet href="{href}">'.encode()


def _paint(colour: str) -> str:
    # Text in the colour of its ground leaves a solid box, so any pixel of it can be read.
    style = (
        f"background:#{colour} !important;color:#{colour} !important;text-shadow:none !important"
    )
    return f"::target-text{{{style}}}"
