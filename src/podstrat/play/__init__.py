"""The playground: a page that says what the API server would, while one types."""
