"""Turn wrong use and unreadable input into one sentence for whoever ran the command."""

from __future__ import annotations


class Refusal(Exception):
    """A run that can't begin or can't end; its text is shown as it is, with exit code 2."""
