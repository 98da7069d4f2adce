"""A simulated DRA driver and device plugin, on real sockets. Shares the wire protocols with the writer, no state."""
