"""EQ001: the cited document does not exist."""

from __future__ import annotations

from exactquote.checks.site import Site, shown
from exactquote.codes import fault
from exactquote.model import Diagnostic, Written


def check(written: Written, site: Site) -> Diagnostic | None:
    """A fault when no document of the corpus has the cited id."""
    doc = site.known(written.doc)
    if doc in site.pages or doc in site.unpublished:
        return None
    # Loaded where it is needed: a gate that is green never looks for what is near.
    from rapidfuzz import fuzz, process

    # Folders go by their name, too; other short forms only repeat a page's id.
    folders = {name for name in site.aliases if not name.endswith((".html", "/"))}
    known = sorted({*site.pages, *folders})
    near = process.extract(written.doc, known, scorer=fuzz.ratio, limit=3)
    names = [name for name, score, _ in near if score >= 60]
    if names:
        cure = f"did you mean {' or '.join(names)}?"
    else:
        cure = "an id is the file's path under the corpus without its suffix, as guide/setup"
    return fault("EQ001", written.place, f"no document has the id {shown(written.doc)}", cure)
