"""The kubernetes package."""

import pytest

client = pytest.importorskip("kubernetes.client", reason="needs the package kubernetes: pip install kubernetes")


def test_a_widget(podstrat_client, podstrat_namespace):
    widgets = client.CustomObjectsApi(podstrat_client)
    where = ("example.com", "v1", podstrat_namespace, "widgets")
    body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}}
    assert widgets.create_namespaced_custom_object(*where, body)["spec"] == {"size": 1}

    body["spec"]["size"] = 11
    body["metadata"]["name"] = "large"
    with pytest.raises(client.ApiException) as refused:
        widgets.create_namespaced_custom_object(*where, body)
    assert "spec.size in body should be less than or equal to 10" in refused.value.body
