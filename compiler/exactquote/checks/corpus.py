"""Faults of a corpus as a whole: nothing checked, pages that must be there, ids given twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from exactquote.checks.site import Site
from exactquote.codes import fault
from exactquote.model import Diagnostic, Place, Related, Written
from exactquote.rendered.page import Kind, read_page


def nothing_checked(documents: int, citations: int, site: Site) -> Iterator[Diagnostic]:
    """EQ016: a gate that looked at nothing must not be green."""
    if site.settings.allow_empty or (documents and citations):
        return
    what = "documents" if not documents else "citations"
    yield fault(
        "EQ016",
        Place("."),
        f"nothing was checked: there are no {what}",
        "add some, point the command at the right folder (a corpus, or pages of another generator"
        " with --citations FILE), or set allow_empty = true",
    )


def required_pages(site: Site, bodies: Mapping[str, str]) -> Iterator[Diagnostic]:
    """EQ018: a page that the configuration requires is missing, unpublished or empty.

    `bodies` are the documents' HTML without the site's frame, so that a title made of the
    file's name fills no page.
    """
    for doc in site.settings.required:
        page = site.pages.get(site.known(doc))
        if page is None:
            yield fault("EQ018", Place("."), f"the required page {doc} is missing", f"write {doc}")
        elif not page_text(bodies[page.doc]):
            yield fault("EQ018", Place("."), f"the required page {doc} is empty", f"write {doc}")


def page_text(html: str) -> str:
    """The visible text of a body, white space trimmed."""
    page = read_page(html, doc="", path="")
    return page.text if any(run.kind is Kind.TEXT for run in page.runs) else ""


def ids_given_twice(all_written: Sequence[Written]) -> Iterator[Diagnostic]:
    """EQ015: an id names one citation."""
    first: dict[str, Written] = {}
    for written in all_written:
        if not written.id:
            continue
        earlier = first.setdefault(written.id, written)
        if earlier is not written:
            yield fault(
                "EQ015",
                written.place,
                f"the id {written.id} was given to another citation",
                "give each citation an id of its own, or none",
                (Related(earlier.place, "first given here"),),
            )


def referenced(
    all_written: Iterable[Written],
) -> tuple[tuple[Written, ...], tuple[Diagnostic, ...]]:
    """Citations by id, as `cite:#id`, made whole from the citation that was given the id.

    EQ035 for an id that no citation was given.
    """
    listed = tuple(all_written)
    by_id = {written.id: written for written in reversed(listed) if written.id}
    whole: list[Written] = []
    faults: list[Diagnostic] = []
    for written in listed:
        if not written.ref:
            whole.append(written)
            continue
        named = by_id.get(written.ref)
        if named is None:
            faults.append(
                fault(
                    "EQ035",
                    written.place,
                    f"no citation was given the id {written.ref}",
                    "give a passage that id in a citation file, or cite it by document and text",
                )
            )
        whole.append(_as_named(written, named))
    return tuple(whole), tuple(faults)


def _as_named(written: Written, named: Written | None) -> Written:
    if named is None:
        return written
    return replace(
        named,
        place=written.place,
        claim=written.claim,
        id="",
        ref=written.ref,
        source=written.source,
        inline=written.inline,
    )
