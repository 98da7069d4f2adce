"""Development of admission policies: tests written as files, and estimates of their cost."""
