"""Ends a test that would never end: a guard against hangs, not a measurement of speed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Of the processor's time, not the clock's; linear work on the inputs here takes a few of them.
CPU_SECONDS_MAX = 60.0


@contextmanager
def no_hang(cpu_seconds: float = CPU_SECONDS_MAX) -> Iterator[None]:
    """Fail the test once its process has used this much processor time."""

    def give_up(signum: int, frame: FrameType | None) -> None:
        raise AssertionError(f"still busy after {cpu_seconds:.0f} s of processor time")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
