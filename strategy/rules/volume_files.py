"""Files of volumes made from keys and fields: paths, modes, owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import refs

FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
USER = validation.between(0, 2**31 - 1)
ONE_REF = "fieldRef and resourceFieldRef can not be specified simultaneously"
NO_REF = "one of fieldRef and resourceFieldRef is required"


def has_plain_defaults(source: dict[str, Any]) -> bool:
    """Whether the mode of all files is one, and no owner is given."""
    return 0 <= source.get("defaultMode", 0) <= 0o777 and "defaultUser" not in source


def defaults(source: dict[str, Any], at: str) -> Errors:
    """The mode and, since 1.37, the owner of all files that do not have their own."""
    if not 0 <= source.get("defaultMode", 0) <= 0o777:
        yield field.invalid(f"{at}.defaultMode", source["defaultMode"], FILE_MODE)
    if "defaultUser" in source:
        yield from user(source["defaultUser"], f"{at}.defaultUser")


def user(uid: int, at: str) -> Errors:
    """The owner of a file is a user id. The field is there since 1.37, while the gate AtomicWriteVolumeUserFields lets it."""
    if not 0 <= uid < 2**31:
        yield field.invalid(at, uid, USER)


def item(item: dict[str, Any], at: str) -> Errors:
    """A key becomes a file: it has a relative path that does not climb.

    Upstream: validateKeyToPath
    """
    path = item["path"]
    if not item["key"]:
        yield field.required(f"{at}.key")
    if not path:
        yield field.required(f"{at}.path")
    elif faults := validation.local_file(path):
        yield from validation.each(f"{at}.path", path, faults)
    if "mode" in item and not 0 <= item["mode"] <= 0o777:
        yield field.invalid(f"{at}.mode", item["mode"], FILE_MODE)
    if "user" in item:
        yield from user(item["user"], f"{at}.user")


def items(items: Sequence[dict[str, Any]], at: str) -> Errors:
    """The keys of a ConfigMap or Secret that become files."""
    for i, each in enumerate(items):
        if len(each) > 2 or not each["key"] or not each["path"] or validation.local_file(each["path"]):
            yield from item(each, f"{at}[{i}]")


def downward_item(item: dict[str, Any], at: str, i: int, ctx: Context) -> Errors:
    """A field of the pod or an amount of a container becomes a file. The server's paths lack the index ``i`` of the item."""
    for error in _downward_item(item, at, ctx):
        source = field.place_of(at)
        yield error._replace(place=(*source, "items", i, *error.where[len(source) :]))


def _downward_item(item: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Upstream: validateDownwardAPIVolumeFile"""
    path = item["path"]
    if not path:
        yield field.required(f"{at}.path")
    elif faults := validation.local_file(path):
        yield from validation.each(f"{at}.path", path, faults)
    if "fieldRef" in item:
        yield from refs.field_ref(item["fieldRef"], f"{at}.fieldRef", refs.VOLUME_FIELDS, ctx)
        if "resourceFieldRef" in item:
            yield field.invalid(at, "resource", ONE_REF)
    elif "resourceFieldRef" in item:
        yield from refs.resource_ref(item["resourceFieldRef"], f"{at}.resourceFieldRef", in_volume=True)
    else:
        yield field.required(at, NO_REF)
    if "mode" in item and not 0 <= item["mode"] <= 0o777:
        yield field.invalid(f"{at}.mode", item["mode"], FILE_MODE)
    if "user" in item:
        yield from user(item["user"], f"{at}.user")
