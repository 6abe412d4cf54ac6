"""Turn a build into what a person or a program reads about it."""
