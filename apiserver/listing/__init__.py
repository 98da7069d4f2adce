"""LIST and WATCH: selectors, pages, continue tokens, event streams. Read-only: nothing in here writes to the store."""
