"""kubernetes_asyncio."""

import asyncio

import pytest

k8s = pytest.importorskip("kubernetes_asyncio", reason="needs the package kubernetes_asyncio: pip install kubernetes_asyncio")


def test_a_widget(podstrat_kubeconfig, podstrat_namespace):
    asyncio.run(a_widget(str(podstrat_kubeconfig), podstrat_namespace))


async def a_widget(kubeconfig, namespace):
    configuration = k8s.client.Configuration()
    await k8s.config.load_kube_config(kubeconfig, client_configuration=configuration)
    async with k8s.client.ApiClient(configuration) as api:
        widgets = k8s.client.CustomObjectsApi(api)
        where = ("example.com", "v1", namespace, "widgets")
        body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 2}}
        await widgets.create_namespaced_custom_object(*where, body)
        async with k8s.watch.Watch() as events:
            async for event in events.stream(widgets.list_namespaced_custom_object, *where, timeout_seconds=30):
                assert (event["type"], event["object"]["spec"]) == ("ADDED", {"size": 2})
                break
