"""EQ005 and EQ013: no link can be proved to land on the passage, and on it alone."""

from __future__ import annotations

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.deeplink.generate import NoLink
from exactquote.model import Diagnostic, Related, Written
from exactquote.rendered.page import Page


def check(written: Written, page: Page, why: NoLink, site: Site) -> Diagnostic:
    """The fault for a passage that is there but that no directive pins."""
    if why.other is not None:
        rival = page.quote(why.other.start, why.other.end)
        return fault(
            "EQ005",
            written.place,
            f"a browser would take {shown(rival)} for the passage, and nothing around it"
            " tells the two apart",
            "quote more of the sentence, or make one of the two places different",
            (Related(site.locate(page, why.other), "the look-alike is here"),),
        )
    return fault(
        "EQ013",
        written.place,
        f"no link to the passage on the page of {page.doc} can be proved in every browser",
        "quote whole sentences, away from pictures, buttons and hidden text",
    )
