"""Keeps 200 answers streaming at once, and measures what the function adds to them.

    python bench/chat/load.py [--streams 200] [--seconds 120] [--write]

Asks: does every answer end, and once? How late are its first words beyond what the model
took, and how much memory do so many answers need? Function, provider and visitors are three
processes of one machine; the provider speaks the real protocol over loopback, and says its
first words after a fixed time and the others at a fixed pace.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.chat import FRIDAY, KEY, SATURDAY, studio, token, write_functions
from tests.provider import LAST_CHUNK, STREAM, Asked, Step, chunk, delta, event, reply
from tests.provider import start_provider as start
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
# What the model says first is long enough to be shown at once.
FIRST_CHARS = 32
FIRST_SECONDS = 0.3
PACE_SECONDS = 0.25
PIECE_CHARS = 8
_SERVE = """
import sys, uvicorn
from pathlib import Path
from exactquote_site.serve.app import create_app
app = create_app(Path(sys.argv[1]))
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning",
            access_log=False, proxy_headers=False, server_header=False)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200, help="answers at once")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--write", action="store_true", help="write the result beside this file")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, provider() as url:
        result = measured(Path(folder), url, told.streams, told.seconds)
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if told.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"load-{result['date']}.json").write_text(text)
    return 1 if result["faults"] else 0


@contextlib.contextmanager
def provider() -> Iterator[str]:
    """The scripted provider in a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_provide, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        process.join(10)


def _provide(pipe: Connection) -> None:
    text = (
        f"The kiln is fired once a week {token(FRIDAY)}. "
        f"It stays closed for a while after that {token(SATURDAY)}. "
        "That is all there is to say about it in so many words."
    )
    written = reply(text)

    def script(asked: Asked) -> Iterator[Step]:
        yield STREAM
        yield FIRST_SECONDS
        yield chunk(delta(written[:FIRST_CHARS]))
        for at in range(FIRST_CHARS, len(written), PIECE_CHARS):
            yield PACE_SECONDS
            yield chunk(delta(written[at : at + PIECE_CHARS]))
        yield chunk(delta("", "stop"))
        usage = {"prompt_tokens": 1_000, "completion_tokens": 60, "total_tokens": 1_060}
        yield chunk(event({"object": "chat.completion.chunk", "choices": [], "usage": usage}))
        yield chunk(b"data: [DONE]\n\n")
        yield LAST_CHUNK

    with start(script) as made:
        pipe.send(made.url)
        pipe.recv()


def measured(folder: Path, url: str, streams: int, seconds: float) -> dict[str, Any]:
    """Every answer that was begun in the time, counted to its end."""
    write_functions(folder, url, studio(), budget_usd_per_day=100_000.0)
    port = free_port()
    environ = {
        **os.environ,
        "EXACTQUOTE_API_KEY": KEY,
        "EXACTQUOTE_STORE_URL": f"sqlite:///{folder / 'store.db'}",
    }
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(folder), str(port)],
        env=environ,
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    try:
        asyncio.run(_until_ready(port))
        before = _memory(server.pid)
        peak, answers = asyncio.run(_visited(port, streams, seconds, server.pid))
        spent = asyncio.run(_status(port))
    finally:
        server.terminate()
        server.wait(60)
    added = sorted(one["first"] - FIRST_SECONDS for one in answers if one["first"] is not None)
    faults = Counter(one["fault"] for one in answers if one["fault"])
    return {
        "what": f"{streams} answers at once for {seconds:g} s, one process, SQLite",
        "command": f"python bench/chat/load.py --streams {streams} --seconds {seconds:g}",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "answers": len(answers),
        "faults": dict(faults),
        "state_after": spent,
        "first_words_added_ms": {
            name: round(1000 * added[min(len(added) - 1, int(len(added) * part))], 1)
            for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
        },
        "memory_mb": {"before": before, "peak": peak},
        "memory_kb_each": round((peak - before) * 1024 / streams, 1),
    }


async def _until_ready(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(httpx2.HTTPError):
            await _status(port)
            return
        await asyncio.sleep(0.1)
    raise SystemExit("the function didn't start")


async def _status(port: int) -> str:
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
        told = await client.get(f"http://127.0.0.1:{port}/api/status")
        return str(told.json()["state"])


async def _visited(
    port: int, streams: int, seconds: float, process: int
) -> tuple[float, list[dict[str, Any]]]:
    ends = time.monotonic() + seconds
    answers: list[dict[str, Any]] = []
    peak = 0.0

    async def visitor(client: httpx2.AsyncClient, number: int) -> None:
        # Visitors don't come all in one moment.
        await asyncio.sleep(number * 5.0 / streams)
        while time.monotonic() < ends:
            answers.append(await _asked(client, port))

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, _memory(process))
            await asyncio.sleep(0.5)

    limits = httpx2.Limits(max_connections=streams + 10, max_keepalive_connections=streams)
    async with httpx2.AsyncClient(trust_env=False, timeout=120, limits=limits) as client:
        watching = asyncio.create_task(watch())
        await asyncio.gather(*(visitor(client, number) for number in range(streams)))
        watching.cancel()
    return peak, answers


async def _asked(client: httpx2.AsyncClient, port: int) -> dict[str, Any]:
    began = time.monotonic()
    first: float | None = None
    ends, cites = 0, 0
    try:
        async with client.stream(
            "POST",
            f"http://127.0.0.1:{port}/api/chat",
            json={"question": "When is the kiln fired?"},
            headers={"accept": "text/event-stream"},
        ) as got:
            if got.status_code != 200:
                return {"first": None, "fault": f"status {got.status_code}"}
            async for line in got.aiter_lines():
                if line == "event: text" and first is None:
                    first = time.monotonic() - began
                cites += line == "event: cite"
                ends += line in ("event: done", "event: error")
                if line == "event: error":
                    return {"first": first, "fault": "error event"}
    except httpx2.HTTPError as error:
        return {"first": first, "fault": type(error).__name__}
    if ends != 1:
        return {"first": first, "fault": f"{ends} end events"}
    return {"first": first, "fault": "" if cites == 2 else f"{cites} citations"}


def _memory(process: int) -> float:
    """Resident memory of a process, in megabytes."""
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


if __name__ == "__main__":
    sys.exit(main())
