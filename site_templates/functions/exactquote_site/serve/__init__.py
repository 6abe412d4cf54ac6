"""Turn a built site into answers to requests."""
