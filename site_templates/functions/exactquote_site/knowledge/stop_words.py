"""Words that make a sentence a question and say nothing of its topic, in English and German.

Pages seldom ask, so that such words are rare there and would count much. Articles and
prepositions need no list: they are in every chunk, so that their idf is next to nothing.
Leaving those out as well found less, by `bench/retrieval/questions.jsonl`; and some, such as
`as`, `for`, `if` and `this`, are topics of their own.
"""

from __future__ import annotations

STOP_WORDS = frozenset(
    """
    what which who whom whose how why where when i me my we us our you your
    can could should would will do does did
    was welche welcher welches welchen welchem wer wen wem wie warum wieso weshalb wozu wo wann
    woher wohin ich mich mir mein meine meinen meinem meiner wir uns unser unsere du dich dir dein
    deine kann können könnte muss müssen soll sollen sollte
    """.split()
)
