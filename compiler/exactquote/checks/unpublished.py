"""EQ014: the cited document is a draft or not published, so no reader can reach it."""

from __future__ import annotations

from exactquote.checks.site import Site
from exactquote.codes import fault
from exactquote.model import Diagnostic, Written


def check(written: Written, site: Site) -> Diagnostic | None:
    """A fault when the document exists but has no page."""
    doc = site.known(written.doc)
    why = site.unpublished.get(doc)
    if why is None:
        return None
    return fault(
        "EQ014",
        written.place,
        f"{doc} is not part of the site: {why}",
        "publish the page, or cite one that readers can reach",
    )
