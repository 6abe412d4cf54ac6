"""Keeps what outlives a request: money spent, questions that were asked, mail to be sent.

SQLite by default, PostgreSQL by URL where several machines serve one site; the statements are
the same for both. All calls block, so a server makes them in a thread.
"""
