"""Clients of the Kubernetes API server: kubeconfig and in-cluster configuration, a blocking and an asyncio client.

    kubeconfig.load(path, context)  a kubeconfig, or the service account of a pod -> ClientConfig
    sync.Client(config)             requests and watches on http.client
    aio.Client(config)              the same on asyncio

The one rule: nothing here knows what an object means, and nothing but the standard library and goyaml is imported.
"""
