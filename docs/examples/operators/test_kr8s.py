"""kr8s."""

import pytest

kr8s = pytest.importorskip("kr8s", reason="needs the package kr8s: pip install kr8s")


def test_a_widget(podstrat_kubeconfig, podstrat_namespace):
    from kr8s.objects import new_class

    api = kr8s.api(kubeconfig=str(podstrat_kubeconfig), namespace=podstrat_namespace)
    widget_class = new_class("Widget", version="example.com/v1", namespaced=True)
    widget = widget_class({"metadata": {"name": "w", "namespace": podstrat_namespace}, "spec": {"size": 2}}, api=api)
    widget.create()
    widget.patch({"spec": {"size": 4}})
    assert [each.spec.size for each in api.get("widgets.example.com", namespace=podstrat_namespace)] == [4]
    widget.delete()
    assert not widget.exists()
