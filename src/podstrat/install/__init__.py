"""Installation of the webhook in a cluster: `podstrat webhook install`, `status` and `uninstall`."""
