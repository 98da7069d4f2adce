"""The concerns, one a file: callables that add edits, warnings and denials to a verdict."""
