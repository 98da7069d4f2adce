"""Makes apiserver/published/openapi-*.json.gz: the schemas of pods as the servers publish them, one file a release.

    python tools/make_openapi.py

The sources are tools/upstream/openapi-pod-*.json.gz: the OpenAPI v3 schemas of the Pod and of every type in it, as an API server
of the release serves them at /openapi/v3/api/v1, without the descriptions. They go into the package as they are, in one line and
with sorted keys.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "tools" / "upstream"
PUBLISHED = ROOT / "apiserver" / "publishing" / "published"

sys.path.insert(0, str(ROOT / "src"))

from podstrat.strategy.api.types import RELEASES  # noqa: E402


def main() -> None:
    PUBLISHED.mkdir(exist_ok=True)
    for release in RELEASES:
        path(release).write_bytes(gzip.compress(text(release).encode(), 9, mtime=0))


def path(release: str) -> Path:
    return PUBLISHED / f"openapi-{release}.json.gz"


def text(release: str) -> str:
    """The schemas of a release, by name."""
    schemas = json.loads(gzip.decompress((SOURCES / f"openapi-pod-{release}.json.gz").read_bytes()))
    return json.dumps(schemas, separators=(",", ":"), sort_keys=True)


if __name__ == "__main__":
    main()
