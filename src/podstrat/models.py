"""Resource health as pydantic models, for people's own code and unit tests.

They hold what the server holds these two types to by themselves; what needs the pod (whether the name is one of the container's
requests or claims) is the engine's to say: put `to_dict()` into a container status and ask `Engine.update_status`.

    gpu = ResourceStatus(name="nvidia.com/gpu", resources=[ResourceHealth(resource_id="gpu-0", health="Unhealthy")])
    status["containerStatuses"][0]["allocatedResourcesStatus"] = [gpu.to_dict()]
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from podstrat.strategy import field
from podstrat.strategy.rules.health import MESSAGE_LIMIT


class _Model(BaseModel):
    # A misspelt field is an error here, as under fieldValidation=Strict.
    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True)

    def to_dict(self) -> dict[str, Any]:
        """The object as the API spells it, without what is unset or empty."""
        return self.model_dump(by_alias=True, exclude_defaults=True)


class ResourceHealth(_Model):
    """The health of one device."""

    # Two aliases and not `alias=`: type checkers take that one for the only name of the argument.
    resource_id: str = Field(validation_alias="resourceID", serialization_alias="resourceID")
    """Which device; unique within its resource."""
    health: Literal["Healthy", "Unhealthy", "Unknown"]
    """The server refuses a device without it."""
    message: str | None = None
    """More about the health, for people. The server drops it while the gate ResourceHealthStatusMessage is off."""

    @field_validator("message")
    @classmethod
    def _has_a_fair_length(cls, message: str | None) -> str | None:
        if message == "":
            raise ValueError("must be non-empty if specified")
        if message is not None and len(message.encode()) > MESSAGE_LIMIT:
            raise ValueError(f"may not be more than {MESSAGE_LIMIT} bytes")
        return message


class ResourceStatus(_Model):
    """The devices that one resource of a container was given, and how they are."""

    name: str
    """The resource as the container requests it, or `claim:NAME` or `claim:NAME/REQUEST` for a claim."""
    resources: list[ResourceHealth] = []

    @field_validator("resources")
    @classmethod
    def _are_told_apart(cls, resources: list[ResourceHealth]) -> list[ResourceHealth]:
        ids = set()
        for i, resource in enumerate(resources):
            if resource.resource_id in ids:
                raise ValueError(str(field.duplicate(f"resources[{i}].resourceID", resource.resource_id)))
            ids.add(resource.resource_id)
        return resources
