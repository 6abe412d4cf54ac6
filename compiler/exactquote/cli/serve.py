"""Turn a built site into one that a browser on this machine can visit; `exactquote serve`."""

from __future__ import annotations

from pathlib import Path

import click

from exactquote.disk.corpus import require_folder
from exactquote.disk.refusal import Refusal

_EPILOG = """\b
For previews only: it serves the files of one folder to this machine, and lists
no folders. Stop it with Ctrl-C.

\b
Examples:
  exactquote serve                    dist/ at http://127.0.0.1:8000/
  exactquote serve public --port 0    any free port; the address is printed
"""


@click.command("serve", epilog=_EPILOG)
@click.argument("dist", required=False, default=Path("dist"), type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
def command(dist: Path, host: str, port: int) -> int:
    """Serve the built site in DIST (dist/ unless given) for a preview."""
    from exactquote_site.serve.static import make_server

    require_folder(dist)
    try:
        server = make_server(dist, host, port)
    except OSError as error:
        raise Refusal(f"can't listen on {host} port {port}: {error.strerror}") from None
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"serving {dist} at http://{shown}:{server.server_port}/ until Ctrl-C")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
    finally:
        server.server_close()
    return 0
