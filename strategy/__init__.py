"""The engine: what the Kubernetes API server does to a Pod. Pure: no I/O, no clock, no randomness, no framework.

engine.py is the entry point, pipeline.py turns a request into an outcome; verbs/ has a module a pipeline, rules/ a module a
family of rules.
"""
