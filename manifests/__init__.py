"""The manifests of the webhook, as data: kustomize sources for people, and what they come to, in rendered/, for the command."""
