"""Admission: who is asked about a write before it is stored. Webhooks that are registered, and rules for nodes."""
