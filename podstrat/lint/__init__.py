"""The linter of webhook configurations: good practice, point by point, with the reason and the fix."""
