"""The containers of a pod: regular ones, init containers with sidecars among them, and ephemeral ones.

The order of checks is the server's: what all containers have in common first, then what each list adds.
"""

from __future__ import annotations

from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors, FieldError
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import container_security, env, mounts, ports, probes, profiles, resources
from podstrat.strategy.rules.mounts import Volumes

MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
NOT_FOR_EPHEMERAL = (
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)
"""What a container for debugging cannot have, in the order of the Go struct."""

PADDED = "must not have leading or trailing whitespace"
SIDECARS_ONLY = "may not be set for init containers without restartPolicy=Always"
NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"


def regular(spec: dict[str, Any], at: str, ctx: Context, volumes: Volumes) -> Errors:
    """A pod has at least one container, each with a name of its own; no two claim the same host port.

    Upstream: validateContainers
    """
    if not spec["containers"]:
        yield field.required(f"{at}.containers")
        return
    names: set[str] = set()
    for i, container in enumerate(spec["containers"]):
        here = f"{at}.containers[{i}]"
        yield from common(container, here, spec, ctx, volumes)
        if container["name"] in names:
            yield field.duplicate(f"{here}.name", container["name"])
        names.add(container["name"])
        yield from _hooks(container, here, spec)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            from podstrat.strategy.rules import restart_policy  # here: few pods have it

            yield from restart_policy.policy(container, here, ctx)
    yield from ports.conflicts(spec["containers"], f"{at}.containers")


def init(spec: dict[str, Any], at: str, ctx: Context, volumes: Volumes) -> Errors:
    """Init containers have names that no other container has; only those that keep running have probes and hooks.

    Upstream: validateInitContainers
    """
    names = {container["name"] for container in spec["containers"] or ()}
    for i, container in enumerate(spec["initContainers"]):
        here = f"{at}.initContainers[{i}]"
        yield from common(container, here, spec, ctx, volumes)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            from podstrat.strategy.rules import restart_policy  # here: few pods have it

            yield from restart_policy.init_policy(container, here, ctx)
        if container["name"] in names:
            yield field.duplicate(f"{here}.name", container["name"])
        elif container["name"]:
            names.add(container["name"])
        if container.get("ports"):
            yield from ports.conflicts_inside(container, f"{at}.initContainers", i)
        if container.get("restartPolicy") == "Always":
            yield from _hooks(container, here, spec)
            continue
        for name in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if name in container:
                yield field.forbidden(f"{here}.{name}", SIDECARS_ONLY)
        if container.get("resizePolicy"):
            yield from resources.init_resize_policy(container, here, ctx)


def ephemeral(spec: dict[str, Any], at: str, ctx: Context, volumes: Volumes) -> Errors:
    """Ephemeral containers have names that no other container has, and nothing that a workload would rely on.

    Upstream: validateEphemeralContainers
    """
    others = {container["name"] for kind in ("containers", "initContainers") for container in spec.get(kind) or ()}
    names = set(others)
    for i, container in enumerate(spec["ephemeralContainers"]):
        here = f"{at}.ephemeralContainers[{i}]"
        yield from common(container, here, spec, ctx, volumes)
        image = container.get("image", "")
        if image != image.strip(profiles.SPACES):
            yield field.invalid(f"{here}.image", image, PADDED)
        if container["name"] in names:
            yield field.duplicate(f"{here}.name", container["name"])
        names.add(container["name"])
        target = container.get("targetContainerName")
        if target and target not in others:
            yield field.not_found(f"{here}.targetContainerName", target)
        yield from _only_for_debugging(container, here)


def _only_for_debugging(container: dict[str, Any], at: str) -> Errors:
    """Upstream: validateFieldAllowList; an empty list counts as set, an empty resources object does not."""
    for name in NOT_FOR_EPHEMERAL:
        if name in container and (name != "resources" or container[name]):
            yield field.forbidden(f"{at}.{name}", NOT_EPHEMERAL)
    for i, mount in enumerate(container.get("volumeMounts") or ()):
        for name in ("subPath", "subPathExpr"):
            if mount.get(name):
                yield field.forbidden(f"{at}.volumeMounts[{i}].{name}", NOT_EPHEMERAL)


def common(container: dict[str, Any], at: str, spec: dict[str, Any], ctx: Context, volumes: Volumes) -> Errors:
    """What holds for every container.

    Upstream: validateContainerCommon
    """
    name = container["name"]
    if not name:
        yield field.required(f"{at}.name")
    elif faults := validation.dns_label(name):
        yield from validation.each(f"{at}.name", name, faults)
    if not container.get("image"):
        yield field.required(f"{at}.image")
    if container.get("terminationMessagePolicy") not in MESSAGE_POLICIES:
        yield _not_one_of(container, "terminationMessagePolicy", MESSAGE_POLICIES, at)
    if "ports" in container:
        yield from ports.each(container, at)
    if "env" in container:
        yield from env.variables(container, at, ctx)
    if "envFrom" in container:
        yield from env.imports(container, at)
    if "volumeMounts" in container:
        yield from mounts.each(container, at, volumes)
    if "volumeDevices" in container:
        yield from mounts.devices(container, at, volumes)
    if container.get("imagePullPolicy") not in PULL_POLICIES:
        yield _not_one_of(container, "imagePullPolicy", PULL_POLICIES, at)
    if not resources.are_plain(container["resources"]):
        yield from resources.of_container(container, at, spec, ctx)
    if "resizePolicy" in container:
        yield from resources.resize_policy(container, at, spec, ctx)
    if "securityContext" in container:
        yield from container_security.context(container, at, spec, ctx)


def _not_one_of(container: dict[str, Any], name: str, choices: tuple[str, ...], at: str) -> FieldError:
    value = container.get(name)
    return field.not_supported(f"{at}.{name}", value, choices) if value else field.required(f"{at}.{name}")


def _hooks(container: dict[str, Any], at: str, spec: dict[str, Any]) -> Errors:
    """Lifecycle and probes, of containers that run as long as the pod."""
    if "lifecycle" in container:
        yield from probes.lifecycle(container["lifecycle"], f"{at}.lifecycle", spec)
    if "livenessProbe" in container and not probes.is_plain(container["livenessProbe"]):
        yield from probes.liveness_or_startup(container["livenessProbe"], f"{at}.livenessProbe")
    if "readinessProbe" in container and not probes.is_plain(container["readinessProbe"]):
        yield from probes.readiness(container["readinessProbe"], f"{at}.readinessProbe")
    if "startupProbe" in container and not probes.is_plain(container["startupProbe"]):
        yield from probes.liveness_or_startup(container["startupProbe"], f"{at}.startupProbe")


def image_whitespace(spec: dict[str, Any], at: str) -> Errors:
    """The image of a container is not padded; late, as pod templates may have such images.

    Upstream: validateContainersOnlyForPod
    """
    for kind in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(kind) or ()):
            image = container.get("image")
            if image and (image[0] in profiles.SPACES or image[-1] in profiles.SPACES):
                yield field.invalid(f"{at}.{kind}[{i}].image", image, PADDED)
