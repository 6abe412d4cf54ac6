"""Serves the pages of a built site beside its function, on one origin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from exactquote_site.serve.static import NOT_FOUND_PAGE, OTHER_TYPE, TYPES

# What belongs to the function is no page; its configuration and data are nobody's business.
_PRIVATE = ("functions",)


def site_files(folder: Path) -> StaticFiles:
    """The files of a folder: index pages, `404.html`, content types of our own table."""
    return _SiteFiles(directory=folder, html=True, follow_symlink=False)


class _SiteFiles(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        first = path.replace(os.sep, "/").split("/", 1)[0]
        if first not in _PRIVATE:
            return await super().get_response(path, scope)
        response = await super().get_response(NOT_FOUND_PAGE, scope)
        response.status_code = 404
        return response

    def file_response(self, full_path: Any, *args: Any, **named: Any) -> Response:
        response = super().file_response(full_path, *args, **named)
        suffix = os.path.splitext(os.fspath(full_path))[1].lower()
        response.headers["content-type"] = TYPES.get(suffix, OTHER_TYPE)
        response.headers["x-content-type-options"] = "nosniff"
        # A page is new with each build and its own address doesn't tell.
        response.headers["cache-control"] = "no-cache"
        return response
