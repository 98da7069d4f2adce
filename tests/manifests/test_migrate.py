"""From the count in an annotation to metadata.generation: a cluster is upgraded from 1.32 to 1.33."""

from __future__ import annotations

from typing import Any

from tests.manifests.conftest import POD, World
from tests.manifests.replicas import until
from tests.manifests.test_install import MUTATING

PODS = "/api/v1/namespaces/default/pods"
IMAGE = "/spec/containers/0/image"
JSON_PATCH = "application/json-patch+json"


def test_an_upgrade(cluster: World) -> None:
    labels = {"metadata": {"labels": {"podstrat.dev/webhook": "enabled"}}}
    assert cluster.send("PATCH", "/api/v1/namespaces/default", labels, "application/merge-patch+json")[0] == 200
    cluster.proxy.version = "1.32"
    cluster.command("install", "--overlay", "development")

    def changed(image: str) -> Any:
        code, pod = cluster.send("PATCH", f"{PODS}/p", [{"op": "replace", "path": IMAGE, "value": image}], JSON_PATCH)
        assert code == 200, pod
        return pod["metadata"]

    assert cluster.send("POST", PODS, POD)[0] == 201
    assert cluster.send("POST", PODS, {**POD, "metadata": {"name": "other", "annotations": {"a": "b"}}})[0] == 201
    for number in range(2, 6):
        metadata = changed(f"c:{number}")
    assert metadata["annotations"]["podstrat.dev/generation"] == "5"
    assert cluster.command("migrate", code=2) == [
        "podstrat: the API server is 1.32: before 1.33 the annotation podstrat.dev/generation is the only count"
    ]

    cluster.proxy.version = "1.33"
    until(lambda: not cluster.get(MUTATING).get("webhooks"))
    assert changed("c:6")["annotations"]["podstrat.dev/generation"] == "5", "now the server counts"
    assert cluster.command("migrate", "--dry-run")[-1] == "2 pods migrated (dry run)"
    said = cluster.command("migrate")
    assert said[-1] == "2 pods migrated"
    assert said[0].startswith("pod/other in default: annotation 1 removed, generation ")
    metadata = cluster.get(f"{PODS}/p")["metadata"]
    assert "annotations" not in metadata
    assert cluster.get(f"{PODS}/other")["metadata"]["annotations"] == {"a": "b"}
    assert cluster.get(f"{PODS}/p")["metadata"]["generation"] == metadata["generation"], (
        "a change of annotations is none of the spec"
    )
    assert cluster.command("migrate") == ["0 pods migrated"]
