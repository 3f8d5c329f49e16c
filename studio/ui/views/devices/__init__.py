"""The device panel: the list of devices, the bar that starts a run, and its live curves."""

from studio.ui.views.devices.device_panel import DevicePanel

__all__ = ["DevicePanel"]
