"""The engine: what the Kubernetes API server does to a Pod. Pure: no I/O, no clock, no randomness, no framework.

engine.py is the way in, verbs.py shows what happens to a request, rules/ holds the rules by family.
"""
