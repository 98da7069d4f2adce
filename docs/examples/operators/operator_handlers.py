"""An operator: a ConfigMap for each Widget, a phase in its status, a finalizer while it is there, and a size that is not odd."""

import os

import kopf

WIDGETS = ("example.com", "v1", "widgets")


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_):
    settings.posting.enabled = False
    settings.persistence.finalizer = "example.com/widgets"
    certificate, key, authority = os.environ["WEBHOOK_TLS"].split(os.pathsep)
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1", host="127.0.0.1", certfile=certificate, pkeyfile=key, cafile=authority
    )
    settings.admission.managed = "widgets.example.com"


@kopf.on.validate(*WIDGETS)
def sizes_are_even_or_one(spec, **_):
    if spec.get("size", 1) > 1 and spec["size"] % 2:
        raise kopf.AdmissionError("an odd size", code=422)


@kopf.on.create(*WIDGETS)
@kopf.on.update(*WIDGETS, field="spec")
def ready(spec, body, namespace, name, patch, **_):
    from kubernetes import client, config

    config.load_kube_config()
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"size": str(spec["size"])}}
    kopf.adopt(data, owner=body)
    core = client.CoreV1Api()
    if core.list_namespaced_config_map(namespace, field_selector=f"metadata.name={name}").items:
        core.patch_namespaced_config_map(name, namespace, data)
    else:
        core.create_namespaced_config_map(namespace, data)
    patch.status["phase"] = "Ready"


@kopf.on.delete(*WIDGETS)
def gone(**_):
    pass
