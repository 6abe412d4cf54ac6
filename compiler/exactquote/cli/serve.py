"""Turn a built site into one that a browser can visit and ask; `exactquote serve`."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

from exactquote.disk.corpus import require_folder
from exactquote.disk.refusal import Refusal
from exactquote.emit.functions import CHAT_PATH, FOLDER

if TYPE_CHECKING:
    from exactquote_site.serve.app import Site

# A stream that is under way may end; whoever presses Ctrl-C doesn't want to wait for it.
_GRACE_SECONDS = 3
_BACKLOG = 2048

_EPILOG = """\b
Site and chat function are one process on one origin. Without a key the function
answers with passages; the line that is printed says so. A build without chat is
served as files alone. After a new build, start it again. Stop it with Ctrl-C.

\b
On the public internet, put a server with TLS in front of it, and set
chat.trusted_hops, so that visitors are told apart.

\b
Examples:
  exactquote serve                    dist/ at http://127.0.0.1:8000/
  exactquote serve public --port 0    any free port; the address is printed
  EXACTQUOTE_API_KEY=… exactquote serve    with the model that is configured
"""


@click.command("serve", epilog=_EPILOG)
@click.argument("dist", required=False, default=Path("dist"), type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
def command(dist: Path, host: str, port: int) -> int:
    """Serve the built site in DIST (dist/ unless given), and its chat function with it."""
    require_folder(dist)
    from exactquote.cli.knowledge import require_build

    require_build(dist)
    if (dist / CHAT_PATH).is_file():
        return _serve_all(dist, host, port)
    return _serve_files(dist, host, port)


def _serve_files(dist: Path, host: str, port: int) -> int:
    from exactquote_site.serve.static import make_server

    try:
        server = make_server(dist, host, port)
    except OSError as error:
        raise _cannot_listen(host, port, error) from None
    click.echo(f"serving {dist} at {_url(host, server.server_port)} until Ctrl-C")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
    finally:
        server.server_close()
    return 0


def _serve_all(dist: Path, host: str, port: int) -> int:
    # First, since a port that is taken is told at once and an embedder takes its time.
    listener = _listener(host, port)
    with listener:
        import uvicorn

        from exactquote_site.serve.app import create_app
        from exactquote_site.serve.store.database import StoreDown, WrongStore
        from exactquote_site.wire.allowlist import WireError

        _require_one_build(dist)
        try:
            app = create_app(dist / FOLDER.rstrip("/"), site=dist)
        except WireError as error:
            raise Refusal(f"{dist}: {error}") from None
        except (StoreDown, WrongStore) as error:
            raise Refusal(f"the store can't be opened: {error}") from None
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                # Who is trusted to name a visitor is a matter of chat.trusted_hops alone.
                proxy_headers=False,
                server_header=False,
                access_log=False,
                log_level="warning",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        bound = listener.getsockname()[1]
        click.echo(f"serving {dist} at {_url(host, bound)} until Ctrl-C")
        click.echo(f"chat: {_told(app.state.site)}")
        # Ctrl-C has done its work by then, and is raised once more.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
        if not server.started:
            raise Refusal("the server didn't start; what stands above says why")
        click.echo("stopped", err=True)
    return 0


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise _cannot_listen(host, port, error) from None


def _require_one_build(dist: Path) -> None:
    """Raise `Refusal` for a function beside the pages of another build."""
    from exactquote.cli.kept import function_config, function_folder
    from exactquote.cli.knowledge import open_allowlist

    pages = open_allowlist(dist).build_id
    function = function_config(function_folder(dist)).build_id
    if pages != function:
        raise Refusal(
            f"{dist} has pages of build {pages} and a chat function of {function}; build again"
        )


def _told(site: Site) -> str:
    """What a visitor who asks now would meet, and why."""
    from exactquote_site.serve.status import state

    provider = site.config.provider
    found = state(site.desk)
    if found == "passages":
        missing = []
        if not os.environ.get(provider.key_env, "").strip():
            missing.append(f"no key in {provider.key_env}")
        if not provider.model:
            missing.append("no model in chat.provider.model")
        return f"passages only: {', '.join(missing)}"
    budget = f"{site.config.budget_usd_per_day:.2f} USD a day"
    if found == "paused":
        return f"paused: one more question could cost more than is left of {budget}"
    if found == "words":
        return f"{provider.model}, found by words alone, up to {budget}"
    if found == "ready":
        return f"{provider.model}, up to {budget}"
    return "off: the store can't be reached"


def _cannot_listen(host: str, port: int, error: OSError) -> Refusal:
    # Python adds the address to the reason, which says it twice.
    reason = (error.strerror or str(error)).partition(" (while")[0]
    return Refusal(f"can't listen on {host} port {port}: {reason}; --port takes another one")


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
