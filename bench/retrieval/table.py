"""Turns a result into Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_COLUMNS = ("recall@5", "hit@5", "hit@8", "mrr")


def told(result: Mapping[str, Any]) -> str:
    return "\n".join(_lines(result))


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    yield f"Questions: {result['half']} halves; chunks of about {result['chunk_chars']} characters"
    for name in dict.fromkeys(row["set"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["set"] == name]
        yield from _set(name, rows, "document" if "passage" not in rows[0] else "passage")
    yield "\n### Questions without an answer: the best score of a leg\n"
    yield "| backend | score | AUC | with an answer, quartiles | without |"
    yield "|---|---|---|---|---|"
    for row in result["unanswerable"]:
        quartiles = (" · ".join(map(str, row[kind])) for kind in ("answerable", "unanswerable"))
        yield f"| {row['backend']} | {row['score']} | {row['auc']} | {' | '.join(quartiles)} |"
    yield "\n### Others, on their own corpora and questions\n"
    yield f"| system | corpus | {' | '.join(_COLUMNS)} |"
    yield "|---|---|---|---|---|---|"
    for other in result["others"]:
        cells = (str(other.get(column, "")) for column in _COLUMNS)
        yield f"| {other['system']} | {other['corpus']} | {' | '.join(cells)} |"


def _set(name: str, rows: list[Mapping[str, Any]], level: str) -> Iterator[str]:
    kinds = [kind for kind in rows[0] if kind.startswith("passage, ")]
    count = rows[0][level]["questions"]
    yield f"\n### {name}: {count} questions, counted by {level}\n"
    also = [f"hit@8{kind.removeprefix('passage')}" for kind in kinds]
    if level == "passage":
        also.append("hit@8, document")
    yield f"| backend | words : meaning | {' | '.join((*_COLUMNS, *also))} |"
    yield "|---" * (2 + len(_COLUMNS) + len(also)) + "|"
    for row in rows:
        cells = [row[level][column] for column in _COLUMNS]
        cells += [row[kind]["hit@8"] for kind in kinds]
        if level == "passage":
            cells.append(row["document"]["hit@8"])
        figures = " | ".join(f"{cell:.3f}" for cell in cells)
        yield f"| {row['backend']} | {row['fusion']} | {figures} |"
