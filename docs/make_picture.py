"""Takes the picture of a report that the README shows: the top of the page in headless Chromium, as a small PNG.

python docs/make_picture.py out/demo/report.html docs/report.png
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

WIDTH, HEIGHT, COLOURS = 1280, 1240, 256
QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-quic"),
)


def screenshot(page: Path) -> bytes:
    """The top of the page as PNG, once every chart is drawn."""
    with browser() as driver:
        metrics = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(page.absolute().as_uri())
        WebDriverWait(driver, 30).until(
            lambda opened: opened.execute_script("return document.documentElement.dataset.drawn") == "yes"
        )
        return driver.get_screenshot_as_png()


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """Headless Chromium with an empty profile that keeps off the network."""
    chromium, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver_path is None:
        sys.exit("the picture needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    with tempfile.TemporaryDirectory() as profile:
        for argument in (*QUIET, f"--user-data-dir={profile}"):
            options.add_argument(argument)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver_path))
        try:
            yield driver
        finally:
            driver.quit()


def main() -> None:
    """Screenshot, fewer colours, file."""
    page, picture = Path(sys.argv[1]), Path(sys.argv[2])
    image = Image.open(io.BytesIO(screenshot(page))).convert("RGB")
    # Every colour of the charts, however small their area.
    few = image.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)
    print(f"{picture}: {picture.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
