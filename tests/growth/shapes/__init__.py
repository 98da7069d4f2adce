"""Requests that can be made as large as one likes in one place each: ``SHAPES[name](n)`` gives the work to be measured.

What is made of ``n`` is an item, a key, or a character. A shape builds its request first and gives a function that does nothing
but answer it, so that the cost of the answer is measured alone. Healthy shapes go through every rule; those with "bad" or "same"
in their names get as many errors as items.
"""

from tests.growth.shapes import device_claims, metadata, patches, reviews, spec, stored, texts, yaml_documents
from tests.growth.shapes.base import SHAPES, TEXTS, Work

__all__ = [
    "SHAPES",
    "TEXTS",
    "Work",
    "device_claims",
    "metadata",
    "patches",
    "reviews",
    "spec",
    "stored",
    "texts",
    "yaml_documents",
]
