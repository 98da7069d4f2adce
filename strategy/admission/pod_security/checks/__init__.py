"""The checks of the Pod Security Standards: functions of a pod's metadata and spec, None where the pod passes."""
