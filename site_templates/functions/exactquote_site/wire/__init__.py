"""The shapes that the compiler writes and the serving code reads; standard library only."""
