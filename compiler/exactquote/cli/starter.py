"""The files that a new corpus begins with; the demo uses them where there is no corpus."""

from __future__ import annotations

CONFIGURATION = """\
# Configuration of exactquote. Every key has a default; remove the # to set another value.
# All keys: `exactquote schema config`.

# title = "My handbook"
# description = ""

# Where the site will be, for its sitemap; links inside the site don't need it.
# base_url = "https://example.org/handbook"

# language = "en"

# Which documents become pages. What isn't published can't be cited.
# publish = ["**"]
# exclude = ["drafts/**"]

# Pages that must be there and say something.
# required = ["index"]

# A check that found nothing to check fails, unless this is true.
# allow_empty = false

# Raise or silence a code; those that are the promise itself can't be silenced.
# [severity]
# EQ019 = "error"

# [mdx]
# unknown = "error"          # or "transparent", "drop"
# expressions = "error"      # or "drop"
# in_markdown = false        # read .md files as MDX, too

# [mdx.components]
# Note = "transparent"

# Limits on passages are off while they are 0.
# [limits]
# passage_chars_min = 0
# passage_chars_max = 0
"""

INDEX = """\
---
title: Opening hours
summary: When the workshop is open, and to whom.
---

# Opening hours

The workshop opens at nine and closes at six. Members may stay until midnight when a second
member is present.

The kiln is fired on Fridays only. Ask at the desk for a place in it.

## Who may come

Everybody may watch. After six,
[nobody works alone](cite:index "until midnight when a second member is present").
"""

SIDECAR = """\
[
  {
    "id": "kiln-day",
    "doc": "index",
    "quote": "The kiln is fired on Fridays only.",
    "claim": "There is one firing a week."
  }
]
"""

# Paths under the corpus folder.
CORPUS = {"index.md": INDEX, "index.citations.json": SIDECAR}
