"""What an admission webhook asks of the engine: a pod under review in, edits and errors out. It knows no HTTP."""
