"""exactquote: a build-time citation compiler.

The gate proves that a quoted passage is on its page, once, and reachable.
It does not prove that the passage supports the claim.
"""

__version__ = "0.1.0"
