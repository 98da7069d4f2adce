"""The webhook into a cluster, and out of it again: `podstrat webhook install`, `status` and `uninstall`."""
