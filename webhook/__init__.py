"""The admission webhook: reviews in, answers out. No pod rule lives here."""
