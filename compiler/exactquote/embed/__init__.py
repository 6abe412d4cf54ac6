"""Turns texts into vectors, keeping on the disk what was made before."""
