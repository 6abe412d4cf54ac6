"""Keeps whether an answer helped, and what the visitor said of it."""

from __future__ import annotations

from dataclasses import dataclass

from exactquote_site.serve.store.database import LAST_SECOND, Database, number_in, text_in


@dataclass(frozen=True, slots=True)
class Feedback:
    """A thumb up or down for an answer by its id, with optional words; `at` in seconds."""

    answer: str
    at: float
    good: bool
    words: str


class FeedbackBox:
    """The feedback in a store: one for each answer, the last one counts."""

    def __init__(self, database: Database) -> None:
        """Feedback is kept in the tables of this store."""
        self._database = database

    def put(self, feedback: Feedback) -> bool:
        """Keep it. False, and nothing is kept, for an answer that was never given."""
        with self._database.transaction() as transaction:
            if not transaction.execute("SELECT 1 FROM exchange WHERE id = ?", (feedback.answer,)):
                return False
            transaction.execute(
                "INSERT INTO feedback (answer, at, good, words) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (answer) DO UPDATE SET at = excluded.at, good = excluded.good,"
                " words = excluded.words",
                (feedback.answer, feedback.at, int(feedback.good), feedback.words),
            )
        return True

    def latest(self, count: int) -> list[Feedback]:
        """The last so many, newest first."""
        with self._database.transaction() as transaction:
            rows = transaction.execute(
                "SELECT answer, at, good, words FROM feedback ORDER BY at DESC, answer LIMIT ?",
                (count,),
            )
        return [
            Feedback(
                text_in(answer, "feedback", "answer"),
                number_in(at, "feedback", "at", LAST_SECOND),
                bool(good),
                text_in(words, "feedback", "words"),
            )
            for answer, at, good, words in rows
        ]

    def counts(self, since: float = 0.0) -> tuple[int, int]:
        """How many thumbs were up and how many down."""
        with self._database.transaction() as transaction:
            rows = transaction.execute(
                "SELECT COALESCE(SUM(good), 0), COUNT(*) FROM feedback WHERE at >= ?", (since,)
            )
        return int(rows[0][0]), int(rows[0][1]) - int(rows[0][0])
