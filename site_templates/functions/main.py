"""The entry point of this folder: `uvicorn main:app --no-access-log`, or any host of ASGI apps.

Beside the site that it was built with, it serves that site too; alone, the function only.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# What ships with the build is what answers for it, whatever else is installed.
sys.path.insert(0, str(FOLDER))

from exactquote_site.serve.app import create_app  # noqa: E402

_SITE = FOLDER.parent
app = create_app(FOLDER, site=_SITE if (_SITE / "build.json").is_file() else None)
