"""Log lines and metrics, in one form for every door: nothing but the standard library."""
