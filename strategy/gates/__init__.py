"""Feature gates: their history by release and the fields they guard. A gate is a row; no rule asks for a release here."""
