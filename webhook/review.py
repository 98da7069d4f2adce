"""AdmissionReview (admission.k8s.io/v1), request and response. Unknown fields are kept."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="allow", validate_by_name=True, validate_by_alias=True)


class GroupVersionKind(_Model):
    group: str = ""
    version: str = ""
    kind: str = ""


class GroupVersionResource(_Model):
    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(_Model):
    """The user of the request."""

    username: str = ""
    uid: str = ""
    groups: list[str] | None = None
    extra: dict[str, list[str]] | None = None


class Request(_Model):
    """An AdmissionRequest."""

    uid: str
    """Identifies the review; the response repeats it."""
    kind: GroupVersionKind
    resource: GroupVersionResource
    sub_resource: str = ""
    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    name: str = ""
    namespace: str = ""
    user_info: UserInfo = UserInfo()
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None
    dry_run: bool | None = None


class Response(_Model):
    """An AdmissionResponse."""

    uid: str
    allowed: bool
    status: dict[str, Any] | None = None
    """The Status that the client of a denied request gets."""
    patch: str | None = None
    """A JSON Patch, in base64."""
    patch_type: str | None = None
    warnings: list[str] | None = None
    audit_annotations: dict[str, str] | None = None


class Review(_Model):
    """The envelope: a request on the way in, a response on the way out."""

    api_version: str
    kind: str
    request: Request | None = None
    response: Response | None = None


def answer(response: Response) -> bytes:
    """The body of a response."""
    review = Review(api_version=API_VERSION, kind=KIND, response=response)
    return review.model_dump_json(by_alias=True, exclude_none=True).encode()
