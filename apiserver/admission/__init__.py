"""Admission: namespace lifecycle, NodeRestriction, and the registered webhooks. Runs before a write is stored."""
