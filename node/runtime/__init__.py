"""Time: the clock, back-off, deadlines. Nothing in here knows Kubernetes."""
