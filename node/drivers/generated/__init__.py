"""Made from node/protos by `make protos`. Nothing here is written by hand."""
