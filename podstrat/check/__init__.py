"""The offline check: YAML in, what the API server would say about it out, with line and column."""
