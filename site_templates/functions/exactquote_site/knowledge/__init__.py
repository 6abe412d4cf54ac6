"""Turns the chunks of a build into an index, and a question into the chunks that answer it.

What builds the index and what looks it up must cut words and make vectors alike, so the
compiler and the serving code share this room. It opens no files: bytes come in as values.
"""
