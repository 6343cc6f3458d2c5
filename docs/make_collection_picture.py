"""Takes the picture of the map of superblocks in the guide on garbage collection, while the built-in load writes.

python docs/make_collection_picture.py docs/collection.png
"""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

from make_picture import browser
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import outlast
from outlast.serving.load import Load

WIDTH, HEIGHT, COLOURS = 1280, 1000, 64
RATE, SEED = 2000, 1
PATIENCE_S = 60


def screenshot() -> bytes:
    """The map as PNG, at a moment at which it has a victim."""
    with outlast.serve("demo", speed=1.0, http=True) as served, Load(served.uri, RATE, SEED), browser() as driver:
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 2, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(str(served.url))
        victim = "#maps .cell[data-state=victim]"
        WebDriverWait(driver, PATIENCE_S, 0.05).until(lambda page: page.find_elements(By.CSS_SELECTOR, victim))
        time.sleep(0.05)
        return bytes(driver.find_element(By.CSS_SELECTOR, "section[aria-labelledby=map-title]").screenshot_as_png)


def main() -> None:
    """Screenshot, fewer colours, file."""
    picture = Path(sys.argv[1])
    image = Image.open(io.BytesIO(screenshot())).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
    print(f"{picture}: {picture.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
