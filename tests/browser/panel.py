"""A site with its chat function on one origin, served for a browser as its owner would."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from exactquote.model import Build
from exactquote.pipeline import build
from exactquote.settings import ChatSettings, KnowledgeSettings, Settings
from exactquote_site.serve.app import create_app
from tests.chat import KEY, PAGES, PRICES, REFUSAL, REFUSAL_DE
from tests.compiling import TODAY, corpus_of, theme

# The strictest policy that a site can have which serves all of its own.
POLICY = "default-src 'self'; require-trusted-types-for 'script'"
_FILLER = "".join(f"Clay number {n} is kept in barrel {n} of the cellar.\n\n" for n in range(30))
MORE_PAGES = {
    **PAGES,
    # What is cited stands far down, so that a landing is seen by its scrolling.
    "wheel.md": f"# Wheel\n\n{_FILLER}## Care\n\nThe wheel is oiled on the first of each month.\n",
    "rtl.md": "---\nlang: ar\ntitle: الفرن\n---\n\nيتم تشغيل الفرن يوم الجمعة فقط.\n",
    "guide/clay.md": "# Clay\n\nClay rests for a week in a damp cloth.\n",
}
OILED = "The wheel is oiled on the first of each month."


@cache
def workshop() -> Build:
    """The build of the pages, with its function."""
    settings = Settings(
        title="The studio",
        chat=ChatSettings(enabled=True, languages=["en", "de"]),
        knowledge=KnowledgeSettings(embedder="none"),
    )
    made = build(corpus_of(MORE_PAGES), settings, theme(), today=TODAY)
    assert not made.failed, made.diagnostics
    return made


@dataclass
class Front:
    """Stands before the app like a proxy: a folder of the site, a policy, other answers."""

    app: ASGIApp
    prefix: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    # In place of what the function would say, by path; and the seconds that it takes.
    instead: dict[str, Response] = field(default_factory=dict)
    seconds: float = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        if not path.startswith(f"{self.prefix}/"):
            await Response("not of this site", 404)(scope, receive, send)
            return
        path = path.removeprefix(self.prefix)
        if path in self.instead:
            await asyncio.sleep(self.seconds)
            await self.instead[path](scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(k.encode(), v.encode()) for k, v in self.headers.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        await self.app({**scope, "path": path, "raw_path": path.encode()}, receive, sent)


@dataclass
class Place:
    """A site that is served; `url` is its root, with a slash at the end."""

    url: str
    front: Front
    app: Starlette
    folder: Path


@contextlib.contextmanager
def serve_site(
    folder: Path,
    provider_url: str = "",
    *,
    prefix: str = "",
    made: Build | None = None,
    headers: Mapping[str, str] = {"Content-Security-Policy": POLICY},
    **config: Any,
) -> Iterator[Place]:
    """The site and its function on a free port; without a provider it has no key.

    `config` replaces parts of `chat.json`.
    """
    for path, content in (made or workshop()).files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    told = json.loads((folder / "functions/chat.json").read_bytes())
    told |= {
        "refusals": [{"version": 1, "texts": {"en": REFUSAL, "de": REFUSAL_DE}}],
        "rates": {"per_minute": 0, "per_day": 0},
        "budget_usd_per_day": 100.0,
        "provider": {
            "base_url": provider_url,
            "model": "scripted",
            "prices_usd_per_million": PRICES,
        },
        **config,
    }
    (folder / "functions/chat.json").write_text(json.dumps(told))
    environ = {"EXACTQUOTE_STORE_URL": f"sqlite:///{folder / 'functions/store.db'}"}
    if provider_url:
        environ["EXACTQUOTE_API_KEY"] = KEY
    app = create_app(folder / "functions", environ, site=folder)
    front = Front(app, prefix, headers)
    with served(front) as origin:
        yield Place(f"{origin}{prefix}/", front, app, folder)


@contextlib.contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """An app on a free port of this machine; yields its origin."""
    config = uvicorn.Config(app, "127.0.0.1", 0, log_config=None, access_log=False)
    config.timeout_graceful_shutdown = 2
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    ends = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < ends, "the site didn't start"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
