"""What only the owner of pod status does, where no kubelet runs: prepares devices, registers the node, removes ended pods."""
