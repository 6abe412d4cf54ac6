"""Keeps 200 answers streaming at once, and measures what the function adds to them.

    python bench/chat/load.py [--streams 200] [--seconds 120] [--write]

Asks: does every answer end, and once? How late are its first words beyond what the model
took, and how much memory and time of a core do so many answers need? Function, provider and
visitors are three processes of one machine; the provider speaks the real protocol over
loopback, and says its first words after a fixed time and the others at a fixed pace. Visitors
read their sockets themselves, since a client library takes half as long as the function does.
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
from itertools import pairwise
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
ANSWER_SECONDS_MAX = 120.0
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
    with tempfile.TemporaryDirectory() as folder, provider() as (url, process):
        result = measured(Path(folder), url, process, told.streams, told.seconds)
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if told.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"load-{result['date']}.json").write_text(text)
    return 1 if result["faults"] else 0


@contextlib.contextmanager
def provider() -> Iterator[tuple[str, int]]:
    """The scripted provider in a process of its own: where it listens, and its number."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_provide, args=(theirs,))
    process.start()
    try:
        assert process.pid is not None
        yield ours.recv(), process.pid
    finally:
        ours.send("end")
        process.join(10)


def _written() -> list[str]:
    """What the model says, in the pieces in which it comes."""
    text = (
        f"The kiln is fired once a week {token(FRIDAY)}. "
        f"It stays closed for a while after that {token(SATURDAY)}. "
        "That is all there is to say about it in so many words."
    )
    written = reply(text)
    cuts = [0, *range(FIRST_CHARS, len(written), PIECE_CHARS), len(written)]
    return [written[start:end] for start, end in pairwise(cuts)]


def _provide(pipe: Connection) -> None:
    first, *others = _written()

    def script(asked: Asked) -> Iterator[Step]:
        yield STREAM
        yield FIRST_SECONDS
        yield chunk(delta(first))
        for piece in others:
            yield PACE_SECONDS
            yield chunk(delta(piece))
        yield chunk(delta("", "stop"))
        usage = {"prompt_tokens": 1_000, "completion_tokens": 60, "total_tokens": 1_060}
        yield chunk(event({"object": "chat.completion.chunk", "choices": [], "usage": usage}))
        yield chunk(b"data: [DONE]\n\n")
        yield LAST_CHUNK

    with start(script) as made:
        pipe.send(made.url)
        pipe.recv()


def measured(folder: Path, url: str, provider: int, streams: int, seconds: float) -> dict[str, Any]:
    """Every answer that was begun in the time, counted to its end."""
    load = os.getloadavg()[0]
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
        processes = {"function": server.pid, "provider": provider, "visitors": os.getpid()}
        worked = {name: _worked(process) for name, process in processes.items()}
        began = time.monotonic()
        peak, answers = asyncio.run(_visited(port, streams, seconds, server.pid))
        took = time.monotonic() - began
        work = {name: _worked(process) - worked[name] for name, process in processes.items()}
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
        # What else ran there, and whether it had to stand back.
        "load_average_before": round(load, 1),
        "nice": _nice(),
        "answers": len(answers),
        "faults": dict(faults),
        "state_after": spent,
        "first_words_added_ms": {
            name: round(1000 * added[min(len(added) - 1, int(len(added) * part))], 1)
            for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
        },
        "pieces_each": len(_written()),
        "cores_used": {name: round(each / took, 2) for name, each in work.items()},
        "function_ms_each": round(1000 * work["function"] / max(1, len(answers)), 1),
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

    async def visitor(number: int) -> None:
        # Visitors don't come all in one moment.
        await asyncio.sleep(number * 5.0 / streams)
        while time.monotonic() < ends:
            answers.append(await _asked(port))

    async def watch() -> None:
        nonlocal peak
        while True:
            peak = max(peak, _memory(process))
            await asyncio.sleep(0.5)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(visitor(number) for number in range(streams)))
    watching.cancel()
    return peak, answers


async def _asked(port: int) -> dict[str, Any]:
    began = time.monotonic()
    first: float | None = None
    heard = b""
    try:
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(_request(port))
                while piece := await reader.read(65_536):
                    heard += piece
                    if first is None and b"event: text" in heard:
                        first = time.monotonic() - began
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        return {"first": first, "fault": type(error).__name__}
    return {"first": first, "fault": _fault(heard)}


def _request(port: int) -> bytes:
    body = json.dumps({"question": "When is the kiln fired?"}).encode()
    head = (
        f"POST /api/chat HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body


def _fault(heard: bytes) -> str:
    """What is wrong with an answer as it came over the wire; "" for nothing."""
    head, _, body = heard.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        return f"status {head[9:12].decode('ascii', 'replace') or 'none'}"
    whole, text = _unchunked(body)
    if not whole:
        return "broken off"
    lines = text.splitlines()
    if b"event: error" in lines:
        return "error event"
    ends, cites = lines.count(b"event: done"), lines.count(b"event: cite")
    if ends != 1:
        return f"{ends} end events"
    return "" if cites == 2 else f"{cites} citations"


def _unchunked(body: bytes) -> tuple[bool, bytes]:
    """The body that came in chunks, and whether its last one came, and nothing behind it."""
    parts: list[bytes] = []
    while True:
        size, _, rest = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        if not length:
            return size == b"0" and rest == b"\r\n", b"".join(parts)
        parts.append(rest[:length])
        body = rest[length + 2 :]


def _nice() -> dict[str, int]:
    """By how much all of this stands back for other processes, and by how much its session."""
    told = {"process": os.nice(0)}
    with contextlib.suppress(OSError):
        # Where sessions share the cores first, the niceness of a process counts within its own.
        told["session"] = int(Path("/proc/self/autogroup").read_text("ascii").split()[-1])
    return told


def _worked(process: int) -> float:
    """The time that the cores spent on a process, in seconds."""
    with open(f"/proc/{process}/stat", encoding="ascii") as status:
        # Behind its name, which may hold spaces.
        fields = status.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> float:
    """Resident memory of a process, in megabytes."""
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return round(int(line.split()[1]) / 1024, 1)


if __name__ == "__main__":
    sys.exit(main())
