"""AlwaysPullImages: every image is pulled, so that only those who may pull it can run it.

Upstream: the admission plugin AlwaysPullImages
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.admission.attributes import Attributes

Object = dict[str, Any]

ALWAYS = "Always"
CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: AlwaysPullImages.Admit"""
    if not _concerns(request):
        return
    spec = request.object["spec"]
    for key in CONTAINERS:
        for index, container in enumerate(spec.get(key) or ()):
            if container.get("imagePullPolicy") != ALWAYS:
                container["imagePullPolicy"] = ALWAYS
                yield f"spec.{key}[{index}].imagePullPolicy"
    for index, volume in enumerate(spec.get("volumes") or ()):
        image = volume.get("image")
        if image is not None and image.get("pullPolicy") != ALWAYS:
            volume["image"] = {**image, "pullPolicy": ALWAYS}
            yield f"spec.volumes[{index}].image.pullPolicy"


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Only a webhook can have changed it back.

    Upstream: AlwaysPullImages.Validate
    """
    if _concerns(request):
        texts = [str(fault) for fault in _faults(request.object["spec"])]
        if texts:
            raise request.forbidden(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
    yield from ()


def _faults(spec: Object) -> Iterator[field.FieldError]:
    for key in CONTAINERS:
        for index, container in enumerate(spec.get(key) or ()):
            policy = container.get("imagePullPolicy", "")
            if policy != ALWAYS:
                yield field.not_supported(f"spec.{key}[{index}].imagePullPolicy", policy, [ALWAYS])
    for index, volume in enumerate(spec.get("volumes") or ()):
        image = volume.get("image")
        if image is not None and image.get("pullPolicy") != ALWAYS:
            yield field.not_supported(f"spec.volumes[{index}].image.pullPolicy", image.get("pullPolicy", ""), [ALWAYS])


def _concerns(request: Attributes) -> bool:
    """Creates, and updates with an image that the stored pod does not have.

    Upstream: shouldIgnore, isUpdateWithNoNewImages
    """
    if request.subresource or request.operation == "DELETE":
        return False
    return request.old is None or not _images(request.object) <= _images(request.old)


def _images(pod: Object) -> set[str]:
    spec = pod.get("spec") or {}
    return {container.get("image", "") for key in CONTAINERS for container in spec.get(key) or ()}
