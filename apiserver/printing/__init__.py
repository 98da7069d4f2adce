"""Objects as tables, as kubectl get shows them. Pure: objects and the time in, rows out."""
