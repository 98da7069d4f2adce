"""Admission policies in CEL: the plugins ValidatingAdmissionPolicy and MutatingAdmissionPolicy.

``validating`` and ``mutating`` are the plugins; they import the rest, and with it CEL, when the world has a policy. A policy is
compiled once (``compiled``); ``matching`` says which requests it concerns, ``parameters`` what its bindings give it,
``activation`` what its expressions see, ``mutations`` how a mutation changes the object.
"""
