"""Counts answers for Prometheus; figures alone, of nobody in particular."""

from __future__ import annotations

from exactquote_site.serve.answer import Done, Failed
from exactquote_site.serve.store.ledger import NANO, Spending
from exactquote_site.wire.allowlist import WireError

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Figures:
    """The counters of one function."""

    def __init__(self, build_id: str) -> None:
        """Raises `WireError` when the package that formats them is missing."""
        try:
            from prometheus_client import (
                CONTENT_TYPE_LATEST,
                CollectorRegistry,
                Counter,
                Gauge,
                Histogram,
            )
        except ImportError as missing:
            raise WireError("metrics need the package prometheus-client") from missing
        self.content_type = CONTENT_TYPE_LATEST
        registry = self._registry = CollectorRegistry()
        self._answers = Counter(
            "exactquote_answers", "Answers by how they ended.", ["outcome"], registry=registry
        )
        self._took = Histogram(
            "exactquote_answer_seconds", "Seconds to the end.", registry=registry, buckets=_SECONDS
        )
        self._first = Histogram(
            "exactquote_first_seconds",
            "Seconds to the first words.",
            registry=registry,
            buckets=_SECONDS,
        )
        self._dropped = Counter(
            "exactquote_dropped_tokens", "Cite tokens that named nothing.", registry=registry
        )
        self._links = Counter(
            "exactquote_removed_links", "URLs taken out of answers.", registry=registry
        )
        self._spent = Gauge("exactquote_spent_usd", "Spent today.", registry=registry)
        self._reserved = Gauge("exactquote_reserved_usd", "Reserved now.", registry=registry)
        build = Gauge("exactquote_build", "The build served.", ["build_id"], registry=registry)
        build.labels(build_id).set(1)

    def heard(self, outcome: str, took: float, first: float, event: Done | Failed) -> None:
        """Count one answer; times are in seconds."""
        self._answers.labels(outcome).inc()
        self._took.observe(took)
        self._first.observe(first)
        if isinstance(event, Done):
            self._dropped.inc(event.dropped)
            self._links.inc(event.links_removed)

    def exposed(self, spending: Spending) -> bytes:
        """All figures in the text format of Prometheus."""
        from prometheus_client import generate_latest

        self._spent.set(spending.spent / NANO)
        self._reserved.set(spending.reserved / NANO)
        return generate_latest(self._registry)
