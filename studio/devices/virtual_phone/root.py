"""The virtual phone's file system: a folder that looks like Android from inside.

`/system/bin` holds Android's own tools (toybox by its applet names, mksh as `sh`) and small scripts for what
is Android's alone (`getprop`, `dumpsys`, `df`). What they print are files that the daemon keeps
up to date under `/data/misc/phone`.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from studio.devices.virtual_phone.heat import Heat
from studio.devices.virtual_phone.profile import PhoneProfile
from studio.errors import DeviceError

STATE = "data/misc/phone"
SIMULATED_PROPERTY = "ro.deployment_studio.simulated"
_FOLDERS = (
    "system/bin", "system/etc", "data/local/tmp", "data/misc/phone", "sys/class/thermal",
    "sys/class/power_supply/battery", "sys/devices/system/cpu", "sdcard", "proc", "dev", "usr", "lib",
    "lib64", "etc", "tmp",
)  # fmt: skip

_SCRIPTS = {
    "getprop": """#!/system/bin/sh
if [ $# -eq 0 ]; then
  while IFS= read -r line; do echo "[${line%%=*}]: [${line#*=}]"; done < /data/misc/phone/properties
else
  while IFS= read -r line; do
    if [ "${line%%=*}" = "$1" ]; then echo "${line#*=}"; exit; fi
  done < /data/misc/phone/properties
  echo "$2"
fi
""",
    "dumpsys": """#!/system/bin/sh
if [ -f /data/misc/phone/dumpsys-$1 ]; then exec cat /data/misc/phone/dumpsys-$1; fi
echo "Can't find service: $1"
""",
    "df": """#!/system/bin/sh
read -r total free < /data/misc/phone/space
echo "Filesystem      1K-blocks      Used Available Use% Mounted on"
echo "/dev/block/dm-9 $total $((total - free)) $free $((100 - 100 * free / total))% /data"
""",
    "logcat": "#!/system/bin/sh\necho '--------- beginning of main'\n",
    "reboot": "#!/system/bin/sh\necho reboot > /data/misc/phone/reboot\n",
}


def need_programs() -> dict[str, str]:
    """mksh, toybox and proot by name. Raises DeviceError that names what is missing and how to get it."""
    found = {name: shutil.which(name) or "" for name in ("mksh", "toybox", "proot")}
    missing = [name for name, path in found.items() if not path]
    if missing:
        raise DeviceError(
            f"The virtual phone needs {', '.join(missing)}, which this computer does not have.",
            hint=f"Install it: sudo apt-get install {' '.join(missing)}",
        )
    return found


def build_root(root: Path, profile: PhoneProfile, serial: str, abi: str) -> None:
    """Makes the phone's folder; `abi` is this computer's, since its programs run here."""
    programs = need_programs()
    for folder in _FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "data/local/tmp").chmod(0o777)
    (root / "bin").symlink_to("system/bin")
    binaries = root / "system/bin"
    (binaries / "sh").symlink_to(programs["mksh"])
    listed = subprocess.run([programs["toybox"]], capture_output=True, text=True, timeout=20).stdout
    for name in listed.split():
        if name not in _SCRIPTS and name != "sh" and "/" not in name:
            (binaries / name).symlink_to(programs["toybox"])
    for name, text in _SCRIPTS.items():
        (binaries / name).write_text(text)
        (binaries / name).chmod(0o755)
    properties = {
        **profile.properties,
        "ro.product.cpu.abi": abi,
        "ro.product.cpu.abilist": abi,
        "ro.serialno": serial,
        "ro.kernel.qemu": "0",
        SIMULATED_PROPERTY: "1",
    }
    rows = "".join(f"{key}={value}\n" for key, value in sorted(properties.items()))
    (root / STATE / "properties").write_text(rows)
    set_free_bytes(root, profile.free_bytes)
    total = profile.ram_bytes // 1024
    (root / STATE / "meminfo").write_text(f"MemTotal: {total:14d} kB\nMemAvailable: {total // 2:10d} kB\n")
    for number, zone in enumerate(profile.zones):
        sensor = root / f"sys/class/thermal/thermal_zone{number}"
        sensor.mkdir()
        (sensor / "type").write_text(f"{zone.name}\n")
    for core in range(sum(cluster.cores for cluster in profile.clusters)):
        (root / f"sys/devices/system/cpu/cpu{core}/cpufreq").mkdir(parents=True)
    write_state(root, profile, Heat(profile))


def set_free_bytes(root: Path, free: int) -> None:
    """What `df` says is free."""
    total = max(free, 16 << 30)
    (root / STATE / "space").write_text(f"{total // 1024} {free // 1024}\n")


def write_state(root: Path, profile: PhoneProfile, heat: Heat) -> None:
    """Brings sensors, clocks and reports up to date."""
    for number, zone in enumerate(profile.zones):
        _put(root / f"sys/class/thermal/thermal_zone{number}/temp", heat.raw(zone))
    for core, (now, cap, highest) in enumerate(heat.clocks_khz()):
        folder = root / f"sys/devices/system/cpu/cpu{core}/cpufreq"
        _put(folder / "scaling_cur_freq", str(now))
        _put(folder / "scaling_max_freq", str(cap))
        _put(folder / "cpuinfo_max_freq", str(highest))
    _put(root / "sys/class/power_supply/battery/current_now", heat.current_now())
    if profile.has_thermal_service:
        _put(root / STATE / "dumpsys-thermalservice", heat.thermal_dump())
    _put(root / STATE / "dumpsys-battery", heat.battery_dump())


def _put(path: Path, text: str) -> None:
    """Replaces the file at once: a reader never sees it half written."""
    partial = path.with_name(f".{path.name}.new")
    partial.write_text(text if text.endswith("\n") else f"{text}\n")
    partial.replace(path)
