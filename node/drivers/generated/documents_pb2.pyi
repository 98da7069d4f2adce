from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WatchResourcesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WatchResourcesResponse(_message.Message):
    __slots__ = ("devices",)
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    devices: _containers.RepeatedCompositeFieldContainer[DeviceHealth]
    def __init__(self, devices: _Optional[_Iterable[_Union[DeviceHealth, _Mapping]]] = ...) -> None: ...

class DeviceHealth(_message.Message):
    __slots__ = ("pool_name", "device_name", "health_status", "last_updated_timestamp", "health_check_timeout_seconds")
    POOL_NAME_FIELD_NUMBER: _ClassVar[int]
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    HEALTH_STATUS_FIELD_NUMBER: _ClassVar[int]
    LAST_UPDATED_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    HEALTH_CHECK_TIMEOUT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    pool_name: bytes
    device_name: bytes
    health_status: bytes
    last_updated_timestamp: int
    health_check_timeout_seconds: int
    def __init__(self, pool_name: _Optional[bytes] = ..., device_name: _Optional[bytes] = ..., health_status: _Optional[bytes] = ..., last_updated_timestamp: _Optional[int] = ..., health_check_timeout_seconds: _Optional[int] = ...) -> None: ...

class Empty(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DevicesStatusResponse(_message.Message):
    __slots__ = ("devices",)
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    devices: _containers.RepeatedCompositeFieldContainer[Device]
    def __init__(self, devices: _Optional[_Iterable[_Union[Device, _Mapping]]] = ...) -> None: ...

class Device(_message.Message):
    __slots__ = ("request_names", "pool_name", "device_name", "cdi_device_ids", "health")
    REQUEST_NAMES_FIELD_NUMBER: _ClassVar[int]
    POOL_NAME_FIELD_NUMBER: _ClassVar[int]
    DEVICE_NAME_FIELD_NUMBER: _ClassVar[int]
    CDI_DEVICE_IDS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    request_names: _containers.RepeatedScalarFieldContainer[bytes]
    pool_name: bytes
    device_name: bytes
    cdi_device_ids: _containers.RepeatedScalarFieldContainer[bytes]
    health: bytes
    def __init__(self, request_names: _Optional[_Iterable[bytes]] = ..., pool_name: _Optional[bytes] = ..., device_name: _Optional[bytes] = ..., cdi_device_ids: _Optional[_Iterable[bytes]] = ..., health: _Optional[bytes] = ...) -> None: ...
