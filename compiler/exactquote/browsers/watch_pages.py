"""Watches pages as they load, several at once, for what they do against links into them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence

from exactquote.browsers.oracle import Browser

# A page is watched for seconds in which its browser has nothing to do.
_WATCHERS = 6
_SECONDS_MAX = 30.0


def watch_pages(
    urls: Sequence[str], heard: Callable[[int, int], None] | None = None
) -> list[tuple[tuple[str, str], ...]]:
    """What each page does against links into it, in words, each with a cure.

    `heard` is told how many of how many pages were watched, in any thread. Raises
    `Unavailable` where Chromium, the only browser that can be asked, does not start.
    """
    work: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(urls)):
        work.put(number)
    found: dict[int, tuple[tuple[str, str], ...]] = {}
    faults: list[Exception] = []
    browsers = [Browser("chromium", _SECONDS_MAX) for _ in range(min(_WATCHERS, len(urls)))]

    def watch(browser: Browser) -> None:
        try:
            while not faults:
                number = work.get_nowait()
                found[number] = browser.watch(urls[number])
                if heard is not None:
                    heard(len(found), len(urls))
        except queue.Empty:
            browser.close()
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=watch, args=(one,), daemon=True) for one in browsers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        # Also on an interrupt: a closed browser's thread comes to its end by itself.
        for browser in browsers:
            browser.close()
    if faults:
        raise faults[0]
    return [found[number] for number in range(len(urls))]
