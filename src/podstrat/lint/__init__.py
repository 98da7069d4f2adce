"""Linter for webhook configurations: rules of good practice, each with its reason and a fix."""
