"""Seccomp and AppArmor profiles and Windows options, of pods and of containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation

PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
MAX_PROFILE_NAME = 4095  # Linux' PATH_MAX less the closing NUL
MAX_CREDENTIAL_SPEC = 64 * 1024  # upstream: MaxGMSACredentialSpecLength
MAX_ID = 2**31 - 1  # the largest int32
BETWEEN_IDS = validation.between(0, MAX_ID)

# What Go takes for white space; Python counts four separators more.
SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))

_FORBIDDEN_IN_USER = '"/\\:;|=,+*?<>@[]'
_CONTROL = r"[\x00-\x1f\x7f]"
_NET_BIOS = r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}'
_WINDOWS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_WINDOWS_DOMAIN = rf"{_WINDOWS_LABEL}(?:\.{_WINDOWS_LABEL})*"


def user_or_group(number: int, path: str) -> Errors:
    """Upstream: IsValidUserID, IsValidGroupID"""
    if not 0 <= number <= MAX_ID:
        yield field.invalid(path, number, BETWEEN_IDS)


def seccomp_profile(profile: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A seccomp profile is of a known type; one of the node has a relative path, and no other has one.

    Upstream: validateSeccompProfileField
    """
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if not kind:
        yield field.required(f"{at}.type", "type is required when seccompProfile is set")
    elif kind not in PROFILE_TYPES:
        yield field.not_supported(f"{at}.type", kind, PROFILE_TYPES)
    if kind == "Localhost":
        if local is None:
            yield field.required(f"{at}.localhostProfile", "must be set when seccomp type is Localhost")
        elif faults := validation.local_path(local):
            yield from validation.each(f"{at}.localhostProfile", local, faults)
    elif local is not None:
        text = "can only be set when seccomp type is Localhost"
        from podstrat.strategy.api import internal  # here: for the text of an error

        value_text = internal.text("SeccompProfile", profile, ctx.version)
        yield field.invalid(f"{at}.localhostProfile", profile, text, show=value_text)


def apparmor_profile(profile: dict[str, Any], at: str) -> Errors:
    """An AppArmor profile is of a known type; one of the node has a name, and no other has one.

    Upstream: ValidateAppArmorProfileField
    """
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if kind == "Localhost":
        if not local:
            yield field.required(f"{at}.localhostProfile", "must be set when AppArmor type is Localhost")
            return
        if local != local.strip(SPACES):
            yield field.invalid(f"{at}.localhostProfile", local, "must not be padded with whitespace")
        if len(local.encode()) > MAX_PROFILE_NAME:
            yield field.too_long(f"{at}.localhostProfile", MAX_PROFILE_NAME)
    elif kind in PROFILE_TYPES:
        if local is not None:
            # A pointer in the server, so it prints as JSON.
            text, value_text = "can only be set when AppArmor type is Localhost", go.to_json(local)
            yield field.invalid(f"{at}.localhostProfile", local, text, show=value_text)
    elif not kind:
        yield field.required(f"{at}.type", "type is required when appArmorProfile is set")
    else:
        yield field.not_supported(f"{at}.type", kind, PROFILE_TYPES)


def windows_options(options: dict[str, Any], at: str) -> Errors:
    """Windows credentials and user names are well formed. The server shows them as JSON: it holds them as pointers.

    Upstream: validateWindowsSecurityContextOptions
    """
    name, spec, user = (options.get(key) for key in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName"))
    if name is not None:
        for fault in validation.dns_subdomain(name):
            yield field.invalid(f"{at}.gmsaCredentialSpecName", name, fault, show=go.to_json(name))
    if spec is not None:
        if not spec:
            yield field.invalid(f"{at}.gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
        elif len(spec.encode()) > MAX_CREDENTIAL_SPEC:
            text = "gmsaCredentialSpec size must be under 64 KiB"
            yield field.invalid(f"{at}.gmsaCredentialSpec", spec, text, show=go.to_json(spec))
    if user is not None:
        for fault in _user_name_faults(user):
            yield field.invalid(f"{at}.runAsUserName", user, fault, show=go.to_json(user))


def _user_name_faults(name: str) -> Iterator[str]:
    """``DOMAIN\\User`` or ``User``; the lengths are in bytes."""
    if not name:
        yield "runAsUserName cannot be an empty string"
        return
    if re.search(_CONTROL, name):
        yield "runAsUserName cannot contain control characters"
        return
    if name.count("\\") > 1:
        yield "runAsUserName cannot contain more than one backslash"
        return
    domain, backslash, user = name.rpartition("\\")
    if len(domain.encode()) >= 256:
        yield "runAsUserName's Domain length must be under 256 characters"
    if backslash and not (re.fullmatch(_NET_BIOS, domain) or re.fullmatch(_WINDOWS_DOMAIN, domain)):
        yield "runAsUserName's Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "runAsUserName's User cannot be empty"
    elif len(user.encode()) > 104:
        yield "runAsUserName's User length must not be longer than 104 characters"
    if user and not user.strip(". "):
        yield "runAsUserName's User cannot contain only periods or spaces"
    if any(char in _FORBIDDEN_IN_USER for char in user):
        yield f"runAsUserName's User cannot contain the following characters: {_FORBIDDEN_IN_USER}"
