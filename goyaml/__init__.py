"""YAML as Kubernetes reads it: values with the line and column of each.

    for document in goyaml.documents(data, "pod.yaml"):
        document.value["spec"]["containers"]
        document.mark(("spec", "containers", 0, "image"))      # (12, 14)

documents() reads a file as kubectl does, load() one body as the API server does. Both raise YamlError.
"""

from __future__ import annotations

from podstrat.goyaml.document import Document, Duplicate, load
from podstrat.goyaml.errors import YamlError
from podstrat.goyaml.limits import MAX_DEPTH, MAX_SIZE
from podstrat.goyaml.stream import Documents, documents

__all__ = ["MAX_DEPTH", "MAX_SIZE", "Document", "Documents", "Duplicate", "YamlError", "documents", "load"]
