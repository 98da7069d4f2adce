"""A namespace with a Pod Security level, and a chart of one with its pods."""

from __future__ import annotations

STREAM = """\
---
# Source: shop/templates/namespace.yaml
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels:
    pod-security.kubernetes.io/enforce: baseline
---
# Source: shop/templates/web.yaml
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
spec:
  containers:
  - name: web
    image: nginx:1.29
  - name: tools
    image: tools:1
    securityContext:
      privileged: true
---
# Source: shop/templates/worker.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: worker
  namespace: shop
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      hostPID: true
      containers:
      - name: worker
        image: worker:1
"""
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: default
  labels: {pod-security.kubernetes.io/enforce: restricted}
"""
