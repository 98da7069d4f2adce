"""Admission: who is asked about a write before it is stored. Webhooks from the configurations in the store, and the rules for nodes."""
