"""The garbage collector: objects go with their owners, or outlive them, as propagation policies and finalizers say."""
