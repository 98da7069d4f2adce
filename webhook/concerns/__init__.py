"""What the webhook is for, one concern a file: a function that makes the concern from the settings."""
