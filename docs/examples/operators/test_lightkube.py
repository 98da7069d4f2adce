"""lightkube."""

import pytest

lightkube = pytest.importorskip("lightkube", reason="needs the package lightkube: pip install lightkube")


def test_a_widget(podstrat_kubeconfig, podstrat_namespace):
    from lightkube.generic_resource import create_namespaced_resource
    from lightkube.types import PatchType

    config = lightkube.KubeConfig.from_file(podstrat_kubeconfig)
    widget = create_namespaced_resource("example.com", "v1", "Widget", "widgets")
    client = lightkube.Client(config.get(), namespace=podstrat_namespace)
    client.create(widget(metadata={"name": "w"}, spec={"size": 2}))
    client.patch(widget.Status, "w", {"status": {"phase": "Ready"}}, patch_type=PatchType.MERGE)
    found = client.get(widget, "w")
    assert (found.spec, found.status, found.metadata.generation) == ({"size": 2}, {"phase": "Ready"}, 1)
    client.close()
