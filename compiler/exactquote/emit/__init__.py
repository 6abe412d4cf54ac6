"""Turns articles, verdicts and counts into the files of the site."""
