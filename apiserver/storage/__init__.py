"""Where objects are stored: memory, the event history, and the SQLite journal. Nothing in here knows HTTP or a rule."""
