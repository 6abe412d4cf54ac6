"""Turns rows of recorded answers into pages, and landings back into answers.

`python -m tests.browser.rows FILE` asks every browser again and rewrites the file.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from exactquote.browsers.landing import BrowserName, Landing
from exactquote.browsers.oracle import BROWSERS, open_browser
from exactquote.browsers.server import Server

Row = dict[str, Any]

_STYLE = "html{font:14px/1.3 'DejaVu Sans',sans-serif}body{margin:0 8px}.sp{height:4000px}"
# A search that finds nothing is mostly waiting, so more processes than cores pay here.
_WORKERS: dict[BrowserName, int] = {"chromium": 3, "firefox": 2, "webkit": 3}
_SECONDS_MAX = 10.0


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of JSON lines."""
    # Not splitlines(): rows hold the line separators of Unicode.
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def page_of(row: Row) -> bytes:
    """The page that a row tells of: its HTML between two spaces that must be scrolled."""
    head = f"<meta charset=utf-8><title>case</title><style>{_STYLE}</style>{row.get('head', '')}"
    body = f"<div class=sp></div>{row['html']}<div class=sp></div>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>".encode()


def answer_of(landing: Landing) -> Row:
    """The answer to record for a landing."""
    if landing.frozen:
        return {"matched": False, "text": None, "frozen": True}
    if landing.error is not None:
        return {"matched": False, "text": None, "error": landing.error}
    return {"matched": landing.matched, "text": landing.text}


def agrees(recorded: Row, landing: Landing) -> bool:
    """Whether a landing is the recorded one, but for white space."""
    found, now = ("".join((text or "").split()) for text in (recorded.get("text"), landing.text))
    return bool(recorded.get("matched")) == landing.matched and found == now


def freezes(row: Row) -> bool:
    """Whether any browser was recorded to freeze."""
    return any(answer.get("hang") or answer.get("frozen") for answer in row["results"].values())


def measure(rows: list[Row]) -> None:
    """Ask every browser about every row, twice where it does not answer, into `results`."""
    site = {f"{number}.html": page_of(row) for number, row in enumerate(rows)}
    answers: dict[tuple[int, BrowserName], Row] = {}

    def work(name: BrowserName, numbers: SimpleQueue[int]) -> None:
        with open_browser(name, seconds_max=_SECONDS_MAX) as browser:
            while True:
                try:
                    number = numbers.get_nowait()
                except Empty:
                    return
                url = server.url(f"{number}.html{rows[number]['directive']}")
                landing = browser.land(url)
                if landing.error is not None:
                    browser.fresh_tab()
                    landing = browser.land(url)
                answers[number, name] = answer_of(landing)

    with Server(site) as server, ThreadPoolExecutor(sum(_WORKERS.values())) as threads:
        running = []
        for name in BROWSERS:
            numbers: SimpleQueue[int] = SimpleQueue()
            for number in range(len(rows)):
                numbers.put(number)
            running += [threads.submit(work, name, numbers) for _ in range(_WORKERS[name])]
        for future in running:
            future.result()
    for number, row in enumerate(rows):
        row["results"] = {name: answers[number, name] for name in BROWSERS}


def main(path: Path) -> None:
    """Measure the rows of a file again."""
    rows = read_rows(path)
    measure(rows)
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
