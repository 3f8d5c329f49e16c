"""A simple model of heat: every sensor nears rest + gain × load, and the skin's temperature throttles.

First order: dT = (target − T) · (1 − e^(−dt/τ)). Load is 0 to 1 (1 = as busy as a phone can be). With the
thermal status the clocks' cap falls, which lowers the load the sensors see.
"""

from __future__ import annotations

import math

from studio.devices.virtual_phone.profile import PhoneProfile, Zone

_CAP = (1.0, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2)
"""Share of the highest clock that each thermal status allows."""
_HYSTERESIS_CELSIUS = 1.0


class Heat:
    """The phone's temperatures, thermal status and clocks; `step` moves time on."""

    def __init__(self, profile: PhoneProfile) -> None:
        self._profile = profile
        self.celsius = {zone.name: zone.rest_celsius for zone in profile.zones if not zone.raw}
        self.status = 0
        self.load = 0.0

    def step(self, load: float, seconds: float) -> None:
        """Moves on by `seconds` under `load` (0 to 1)."""
        self.load = min(max(load, 0.0), 1.0)
        power = self.load * self.cap**2
        for zone in self._profile.zones:
            if zone.raw:
                continue
            target = zone.rest_celsius + zone.gain_celsius * power
            now = self.celsius[zone.name]
            self.celsius[zone.name] = now + (target - now) * (1 - math.exp(-seconds / zone.tau_s))
        skin = self.celsius[self._profile.skin_zone]
        rising = sum(skin >= limit for limit in self._profile.throttle_celsius)
        falling = sum(skin >= limit - _HYSTERESIS_CELSIUS for limit in self._profile.throttle_celsius)
        self.status = max(rising, min(self.status, falling))

    def set_skin(self, celsius: float) -> None:
        """Puts the skin at a temperature, for tests and demonstrations."""
        self.celsius[self._profile.skin_zone] = celsius
        self.step(self.load, 0.0)

    @property
    def cap(self) -> float:
        """The share of the highest clock that is allowed now."""
        return _CAP[min(self.status, len(_CAP) - 1)]

    def raw(self, zone: Zone) -> str:
        """The text of a zone's sysfs file, in its own unit."""
        return zone.raw or str(round(self.celsius[zone.name] * zone.scale))

    def clocks_khz(self) -> list[tuple[int, int, int]]:
        """Per core: (current, cap, highest) in kHz."""
        rows = []
        for cluster in self._profile.clusters:
            cap = max(cluster.min_khz, round(cluster.max_khz * self.cap))
            now = round(cluster.min_khz + (cap - cluster.min_khz) * self.load)
            rows += [(now, cap, cluster.max_khz)] * cluster.cores
        return rows

    def thermal_dump(self) -> str:
        """`dumpsys thermalservice` in Android's shape."""
        pad = self._profile.thermal_dump_indent
        rows = []
        for zone in self._profile.zones:
            if zone.hal_type is None:
                continue
            value = zone.raw if zone.raw else f"{self.celsius[zone.name]:.1f}"
            status = self.status if zone.name == self._profile.skin_zone else 0
            rows.append(
                f"{pad}Temperature{{mValue={value}, mType={zone.hal_type}, "
                f"mName={zone.name}, mStatus={status}}}"
            )
        limits = ", ".join(["NaN", *(f"{limit:.1f}" for limit in self._profile.throttle_celsius)])
        cold = ", ".join(["NaN"] * 7)
        return "\n".join(
            [
                "IsStatusOverride: false",
                "ThermalEventListeners:",
                f"{pad}callbacks: 1",
                f"Thermal Status: {self.status}",
                "Cached temperatures:",
                *rows[:1],
                "HAL Ready: true",
                "HAL connection:",
                f"{pad}ThermalHAL AIDL 1  connected: yes",
                "Current temperatures from HAL:",
                *rows,
                "Current cooling devices from HAL:",
                "Temperature static thresholds from HAL:",
                f"{pad}TemperatureThreshold{{mType=3, mName={self._profile.skin_zone}, "
                f"mHotThrottlingThresholds=[{limits}], mColdThrottlingThresholds=[{cold}]}}",
                "",
            ]
        )

    def battery_dump(self) -> str:
        """`dumpsys battery` in Android's shape."""
        profile = self._profile
        zone = next((z for z in profile.zones if "batt" in z.name and not z.raw), None)
        celsius = self.celsius[zone.name] if zone is not None else 29.0
        return "\n".join(
            [
                "Current Battery Service state:",
                "  AC powered: false",
                "  USB powered: false",
                "  Wireless powered: false",
                "  status: 3",
                "  health: 2",
                "  present: true",
                f"  level: {round(profile.battery_percent)}",
                "  scale: 100",
                f"  voltage: {profile.battery_millivolt}",
                f"  temperature: {round(celsius * 10)}",
                "  technology: Li-ion",
                "",
            ]
        )

    def current_now(self) -> str:
        """`current_now` in the phone's own unit; negative = out of the battery."""
        milli = self._profile.idle_milliampere + self._profile.load_milliampere * self.load * self.cap
        return str(-round(milli * 1000 if self._profile.current_unit == "uA" else milli))
