"""Hardware and its wire: this computer, phones over ADB, the virtual phone.

What lives here: `Device` (the contract), `DeviceInfo`, the records of a run's stream, the
registry, `adb/` and `virtual_phone/`. What does not: loading models (the runner is a process that
`jobs` names), statistics (`measure`).
"""

from studio.devices.device import (
    Device,
    DeviceInfo,
    DeviceKind,
    DeviceState,
    RunMode,
    RunRequest,
    RunSettings,
)
from studio.devices.stream import (
    End,
    Fault,
    Hello,
    Inference,
    Loaded,
    Output,
    Phase,
    Sample,
    StreamRecord,
    Summary,
    Warm,
    decode_record,
    encode_record,
)

__all__ = [
    "Device",
    "DeviceInfo",
    "DeviceKind",
    "DeviceState",
    "End",
    "Fault",
    "Hello",
    "Inference",
    "Loaded",
    "Output",
    "Phase",
    "RunMode",
    "RunRequest",
    "RunSettings",
    "Sample",
    "StreamRecord",
    "Summary",
    "Warm",
    "decode_record",
    "encode_record",
]
