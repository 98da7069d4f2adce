"""gRPC clients and servers of the node protocols: protobuf on one side, plain tuples on the other. Only here is grpc imported."""
