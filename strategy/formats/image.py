"""Image references: the tag, and the default pull policy that follows from it."""

from __future__ import annotations

import re
from functools import lru_cache

ALWAYS, IF_NOT_PRESENT = "Always", "IfNotPresent"

HUB, OLD_HUB, HUB_LIBRARY = "docker.io", "index.docker.io", "library/"
PATH_LENGTH = 255  # upstream: reference.RepositoryNameTotalLengthMax
CACHED_LENGTH = 512  # twice the longest valid name: what is longer is not worth a place
DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}

_HOST_PART = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART = r"[a-z0-9]+(?:(?:__|[._]|-+)[a-z0-9]+)*"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"(?:{_HOST}/)?({_PATH_PART}(?:/{_PATH_PART})*)(?::({_TAG}))?(?:@({_DIGEST}))?")
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_LOWER_HEX = re.compile(r"[a-f0-9]+")


def default_pull_policy(image: str) -> str:
    """An image whose tag is latest, said or implied, is always pulled; any other one, also an unreadable one, if not present.

    Upstream: SetDefaults_Container
    """
    # Texts longer than any sensible reference are not kept: the cache is bounded in bytes too.
    return _policy(image) if len(image) <= CACHED_LENGTH else _policy.__wrapped__(image)


@lru_cache(maxsize=4096)
def _policy(image: str) -> str:
    return ALWAYS if tag(image) == "latest" else IF_NOT_PRESENT


def tag(image: str) -> str:
    """The tag of a reference: latest if it names neither tag nor digest, empty if it has only a digest or cannot be read.

    Upstream: parsers.ParseImageName, reference.ParseNormalizedNamed
    """
    if _IDENTIFIER.fullmatch(image):
        return ""
    domain, rest = _split_domain(image)
    name = rest.partition(":")[0]
    if name != name.lower():
        return ""
    match = _REFERENCE.fullmatch(f"{domain}/{rest}")
    if match is None or len(match[1]) > PATH_LENGTH:
        return ""
    if match[3] is None:
        return match[2] or "latest"
    return match[2] or "" if _known_digest(match[3]) else ""


def _split_domain(image: str) -> tuple[str, str]:
    """What stands before the first slash is a domain if it looks like one; everything else lives on the hub.

    Upstream: splitDockerDomain
    """
    first, slash, rest = image.partition("/")
    if not slash:
        return HUB, HUB_LIBRARY + image
    if first == OLD_HUB:
        domain = HUB
    elif first == "localhost" or "." in first or ":" in first or first != first.lower():
        domain = first
    else:
        return HUB, image
    if domain == HUB and "/" not in rest:
        rest = HUB_LIBRARY + rest
    return domain, rest


def _known_digest(digest: str) -> bool:
    """Upstream: digest.Validate"""
    algorithm, _, hexadecimal = digest.partition(":")
    return DIGEST_LENGTHS.get(algorithm) == len(hexadecimal) and _LOWER_HEX.fullmatch(hexadecimal) is not None
