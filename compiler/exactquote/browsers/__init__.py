"""Asks real browsers what a text-fragment link highlights."""
