"""The wire: the only place that knows gRPC. Protobuf on one side, plain tuples on the other."""
