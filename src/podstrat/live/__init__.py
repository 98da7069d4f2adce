"""The live view: a page that follows a cluster by watches. Read-only."""
