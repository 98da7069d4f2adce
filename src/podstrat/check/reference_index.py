"""Index of what the checked files have: names by kind and namespace, and the labels of pods and pod templates.

Built once, before anything is judged, and only read from then on: every worker process gets it with the settings.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from podstrat import goyaml
from podstrat.check import inputs, manifest, places, references, selection
from podstrat.strategy.rules import label_selectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import Source
    from podstrat.check.manifest import Object

DEFAULT = "default"
"""The namespace of objects that name none, unless -n names another."""
_KUSTOMIZATION = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})
_GENERATORS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
_MAKERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("bitnami.com", "SealedSecret"): ("spec.template.metadata.name", "metadata.name"),
    ("external-secrets.io", "ExternalSecret"): ("spec.target.name", "metadata.name"),
    ("cert-manager.io", "Certificate"): ("spec.secretName",),
}
"""Custom resources whose controllers make a Secret, and the fields that may have its name; the first that is there counts."""
_EVERYWHERE = frozenset({("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt")})
"""Kinds and names that every namespace has."""
_ALWAYS = frozenset(
    {
        ("PriorityClass", "", "system-cluster-critical"),
        ("PriorityClass", "", "system-node-critical"),
        ("ConfigMap", "kube-system", "extension-apiserver-authentication"),
    }
)
"""Kinds, namespaces and names that every cluster has."""
_ADDED_LABELS = frozenset(
    {
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "pod-template-generation",
        "pod-template-hash",
        "rollouts-pod-template-hash",
    }
)
_ADDED_PREFIXES = (
    "apps.kubernetes.io/",
    "batch.kubernetes.io/",
    "jobset.sigs.k8s.io/",
    "leaderworkerset.sigs.k8s.io/",
    "ray.io/",
    "serving.knative.dev/",
    "statefulset.kubernetes.io/",
    "training.kubeflow.org/",
)
"""Labels that controllers add to their pods: no template has them."""

Labels = dict[str, str]


class Index:
    """Names and labels. Objects without a namespace are in the ``namespace`` of the run."""

    def __init__(self, namespace: str = "") -> None:
        self._default = namespace or DEFAULT
        self._namespaces: dict[tuple[str, str], dict[str, None]] = {}
        """By kind and name: the namespaces, in the order of the files."""
        self._names: dict[tuple[str, str], list[str]] = {}
        """By kind and namespace: the names."""
        self._claims: set[tuple[str, str]] = set()
        """Namespace and beginning of the names of claims that StatefulSets make, up to the number."""
        self._labels: dict[str, dict[str, Labels]] = {}
        """By namespace: the label sets of pods, each once."""
        self._having: dict[tuple[str, str, str], list[Labels]] = {}
        """By namespace, key and value of a label: the sets that have it."""
        self._answers: dict[tuple[str, str], bool] = {}

    # ---- building --------------------------------------------------------------------------------------

    def add(self, each: Object, settings: Settings) -> None:
        """An object that one of the files has."""
        group, kind = references.group(each), each.said("kind")
        namespace = self.namespace(each)
        if references.GROUPS.get(kind) == group and each.meta("name"):
            self._add_name(kind, namespace, each.meta("name"))
        elif (group, kind) in _MAKERS:
            self._add_name("Secret", namespace, next(filter(None, _texts(each.value, _MAKERS[group, kind])), ""))
        elif (group, kind) == ("apps", "StatefulSet"):
            self._add_claims(each, namespace)
        choice = selection.choose(each, frozenset(), settings.templates)
        for place in references.pods(each, choice):
            self._add_labels(places.at(place, each.value), namespace)

    def add_generated(self, kustomization: Any) -> None:
        """The ConfigMaps and Secrets that kustomize generates; manifests name them without the suffix that they get."""
        if not isinstance(kustomization, dict):
            return
        for key, kind in _GENERATORS.items():
            for each in _mappings(kustomization.get(key)):
                if isinstance(each.get("name"), str):
                    namespace = each.get("namespace")
                    self._add_name(kind, namespace if isinstance(namespace, str) else self._default, each["name"])

    def _add_name(self, kind: str, namespace: str, name: str) -> None:
        namespace = "" if kind in references.CLUSTER_WIDE else namespace
        self._namespaces.setdefault((kind, name), {})[namespace] = None
        self._names.setdefault((kind, namespace), []).append(name)

    def _add_claims(self, each: Object, namespace: str) -> None:
        spec = each.value.get("spec")
        for template in _mappings(spec.get("volumeClaimTemplates") if isinstance(spec, dict) else ()):
            for name in _texts(template, ("metadata.name",)):
                self._claims.add((namespace, f"{name}-{each.meta('name')}"))

    def _add_labels(self, pod: dict[str, Any], namespace: str) -> None:
        metadata = pod.get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        labels = _texts_only(labels) if isinstance(labels, dict) else {}
        labels_of_namespace = self._labels.setdefault(namespace, {})
        key = json.dumps(labels, sort_keys=True)
        if key not in labels_of_namespace:
            labels_of_namespace[key] = labels
            for label, value in labels.items():
                self._having.setdefault((namespace, label, value), []).append(labels)

    # ---- asking ----------------------------------------------------------------------------------------

    def namespace(self, each: Object) -> str:
        return each.meta("namespace") or self._default

    def has(self, kind: str, namespace: str, name: str) -> bool:
        """Whether one of the files has an object, or every cluster does."""
        namespace = "" if kind in references.CLUSTER_WIDE else namespace
        if namespace in self._namespaces.get((kind, name), ()):
            return True
        if (kind, name) in _EVERYWHERE or (kind, namespace, name) in _ALWAYS:
            return True
        beginning, _, number = name.rpartition("-")
        return kind == "PersistentVolumeClaim" and number.isdecimal() and (namespace, beginning) in self._claims

    def elsewhere(self, kind: str, name: str) -> str:
        """Another namespace that has an object of this name; empty if none has."""
        return next(iter(self._namespaces.get((kind, name), ())), "")

    def names(self, kind: str, namespace: str) -> list[str]:
        """The names of a kind in a namespace."""
        return self._names.get((kind, "" if kind in references.CLUSTER_WIDE else namespace), [])

    def selects(self, selector: dict[str, Any], namespace: str) -> bool:
        """Whether a label selector matches any pod or pod template of a namespace; labels that controllers add do not count."""
        key = (namespace, json.dumps(selector, sort_keys=True))
        if key not in self._answers:
            self._answers[key] = self._find(_without_added(selector), namespace)
        return self._answers[key]

    def _find(self, selector: dict[str, Any], namespace: str) -> bool:
        return any(label_selectors.matches(selector, labels) for labels in self._candidates(selector, namespace))

    def _candidates(self, selector: dict[str, Any], namespace: str) -> Iterator[Labels]:
        """The label sets that meet the rarest of the requirements: the others need not be looked at."""
        requirements = [[label] for label in selector["matchLabels"].items()]
        requirements += [
            [(each["key"], value) for value in each.get("values") or () if isinstance(value, str)]
            for each in selector["matchExpressions"]
            if each["operator"] == "In"
        ]
        if not requirements:
            yield from self._labels.get(namespace, {}).values()
            return

        def having(label: tuple[str, str]) -> list[Labels]:
            return self._having.get((namespace, *label), [])

        for label in min(requirements, key=lambda labels: sum(len(having(label)) for label in labels)):
            yield from having(label)


def _without_added(selector: dict[str, Any]) -> dict[str, Any]:
    return {
        "matchLabels": {key: value for key, value in (selector.get("matchLabels") or {}).items() if not _is_added(key)},
        "matchExpressions": [each for each in selector.get("matchExpressions") or () if not _is_added(each["key"])],
    }


def _is_added(key: str) -> bool:
    return key in _ADDED_LABELS or key.startswith(_ADDED_PREFIXES)


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    yield from (each for each in (value if isinstance(value, list) else ()) if isinstance(each, dict))


def _texts(value: Any, paths: tuple[str, ...]) -> Iterator[str]:
    """The texts at these paths, of those that are there."""
    for path in paths:
        place = tuple(path.split("."))
        text = places.at(place, value) if places.found(place, value) == place else None
        if isinstance(text, str):
            yield text


def _texts_only(labels: dict[Any, Any]) -> Labels:
    return {key: value for key, value in labels.items() if isinstance(key, str) and isinstance(value, str)}


# ---- the files -----------------------------------------------------------------------------------------


def build(sources: list[Source], settings: Settings) -> tuple[list[Source], Index]:
    """The index of all that is in the sources, and the sources as they can be read again: standard input is kept.

    What cannot be read is left out here: it is reported when it is checked.
    """
    index = Index(settings.namespace)
    copies = [_kept(source) for source in sources]
    for source in copies:
        try:
            for document in _documents(source):
                if os.path.basename(source.name) in _KUSTOMIZATION:
                    index.add_generated(document.value)
                for each in manifest.of(document.value):
                    if isinstance(each.value, dict):
                        index.add(each, settings)
        except OSError:
            continue
    return copies, index


def _kept(source: Source) -> Source:
    is_standard_input = not source.path and source.text is None and not source.chart and not source.skip
    return source._replace(text=inputs.standard_input()) if is_standard_input else source


def _documents(source: Source) -> Iterator[goyaml.Document]:
    for piece in inputs.pieces(source):
        if piece.chart or piece.skip:
            continue
        stream = goyaml.documents(inputs.content(piece.path) if piece.path else piece.text, piece.name, piece.line)
        while True:
            try:
                yield next(stream)
            except StopIteration:
                break
            except goyaml.YamlError:
                continue
