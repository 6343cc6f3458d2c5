"""Takes the picture of the live page that the README shows, while a die is being repaired under load.

python docs/make_live_picture.py docs/live.png
"""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path

from make_picture import browser
from PIL import Image

import outlast

WIDTH, HEIGHT, COLOURS = 1280, 1200, 128
MEMBER, DIE = 2, 13
LOAD = (
    "fio",
    "--name=load",
    "--ioengine=nbd",
    "--rw=randrw",
    "--rwmixread=70",
    "--bs=8k",
    "--iodepth=8",
    "--time_based",
)
SETTLE_S, PATIENCE_S = 15, 30
# Slow enough to be seen.
OVERRIDES = {"faults": [], "precondition.overwrite": "none", "array.repair.share": 0.004}


def screenshot() -> bytes:
    """The page as PNG, in the middle of a repair."""
    with outlast.serve("die-repair", OVERRIDES, speed=1.0, http=True) as served:
        command = [*LOAD, f"--uri={served.uri}", "--runtime=60"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as load, browser() as driver:
            try:
                metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
                driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
                driver.get(str(served.url))
                time.sleep(SETTLE_S)
                served.fault(die=DIE, device=MEMBER)
                for _ in range(PATIENCE_S * 5):
                    if served.state()["machine"]["array"]["condition"] == "rebuilding":
                        break
                    time.sleep(0.2)
                else:
                    sys.exit("no repair began")
                time.sleep(1.5)
                return driver.get_screenshot_as_png()
            finally:
                load.terminate()


def main() -> None:
    """Screenshot, fewer colours, file."""
    picture = Path(sys.argv[1])
    image = Image.open(io.BytesIO(screenshot())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
    print(f"{picture}: {picture.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
