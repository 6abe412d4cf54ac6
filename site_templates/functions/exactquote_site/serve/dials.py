"""Turns the steps of the persona dials into the directives that a request carries.

Only the chosen step is sent, and never in the part of the prompt that providers cache. The
honesty dial is shown beside the others and is no input: its one step is a constant, which is
in no request and in no prompt.
"""

from __future__ import annotations

from exactquote_site.serve.config import Dials
from exactquote_site.serve.requests import STEPS, Style

HONESTY = 100

_HUMOUR = {
    0: "",
    25: "Tone: friendly and plain, with at most one light turn of phrase.",
    50: "Tone: warm, with one light remark that takes nothing away from the facts.",
    75: "Tone: playful; two light remarks at most, none of them about the reader.",
    100: "Tone: as witty as the facts allow; the facts stay exactly as the passages have them.",
}
# Each step states a quantity and what goes first when room runs out. What goes is pointed to
# on its page: a figure is never blurred, and brevity is no reason to refuse.
_ROOM = (
    "When room runs out, leave out {out} and cite the sentence that has it;"
    " keep every figure exact, and don't say that the passages lack what they have."
)
_BREVITY = {
    0: "Length: up to 12 sentences. " + _ROOM.format(out="repetition"),
    25: "Length: up to 8 sentences. " + _ROOM.format(out="background"),
    50: "Length: up to 5 sentences. " + _ROOM.format(out="background and examples"),
    75: "Length: up to 3 sentences. " + _ROOM.format(out="all but the answer and its condition"),
    100: "Length: 1 sentence of at most 25 words. " + _ROOM.format(out="all but the answer"),
}


def directives(style: Style, dials: Dials) -> tuple[str, ...]:
    """The directives of the steps in force: the visitor's, or else the site's own.

    A site without dials has its own brevity still, and takes no step from a visitor.
    """
    humour, brevity = dials.humour, dials.brevity
    if dials.enabled:
        humour = style.humour if style.humour is not None else humour
        brevity = style.brevity if style.brevity is not None else brevity
    lines = (_HUMOUR[humour] if dials.enabled else "", _BREVITY[brevity])
    return tuple(line for line in lines if line)


def shown(dials: Dials) -> dict[str, object] | None:
    """What the panel shows of the dials, the locked one among them; None without dials."""
    if not dials.enabled:
        return None
    return {
        "steps": list(STEPS),
        "humour": dials.humour,
        "brevity": dials.brevity,
        "honesty": {"value": HONESTY, "locked": True},
    }
