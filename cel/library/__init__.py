"""Function libraries of Kubernetes' CEL: declarations for the checker, implementations for the interpreter."""
