"""Take the pictures of the explorer that the docs show: `python docs/make_screenshots.py`.

Needs Chromium with its driver (Debian: chromium, chromium-driver), selenium, Pillow, and the files of Cora.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from mcn.data import load_dataset
from mcn.train import train
from mcn.train.presets import dataset_config
from mcn.viz import write_explorer, write_report

FOLDER = Path(__file__).resolve().parent / "img"
WIDTH, HEIGHT = 1366, 768


def browser() -> Any:
    """A Chromium without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"):
        options.add_argument(flag)
    options.add_argument("--hide-scrollbars")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def take(
    driver: Any,
    page: Path,
    name: str,
    node: str = "",
    mode: int = 0,
    dark: bool = False,
    height: int = HEIGHT,
) -> None:
    """Open a page, go to a node, and save what is seen."""
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    size = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.as_uri())
    ready = "return document.documentElement.dataset.ready || null"
    WebDriverWait(driver, 30).until(lambda page: page.execute_script(ready))
    if mode:
        driver.find_elements("css selector", "#mode option")[mode].click()
        driver.execute_script("document.activeElement.blur()")
    if node:
        driver.find_element("id", "search").send_keys(node, Keys.ENTER)
    time.sleep(1.5)  # until the view has come to rest
    picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    # Five bits per colour: a third of the bytes, and no colour of the legend changes visibly.
    picture.point(lambda value: value & 0xF8 | value >> 5).save(FOLDER / f"{name}.png", optimize=True)


def main() -> None:
    """Train on two graphs, open their pages, take the pictures."""
    driver = browser()
    with tempfile.TemporaryDirectory() as folder:
        run, data = Path(folder) / "cora", load_dataset("cora")
        train(data, dataset_config("views", "cora"), run, source={"dataset": "cora"})
        take(driver, write_explorer(run, data), "explorer")
        run, data = Path(folder) / "ties", load_dataset("strong-ties")
        train(data, dataset_config("mcn", "strong-ties"), run, source={"dataset": "strong-ties"})
        page = write_explorer(run, data)
        take(driver, page, "explorer-node", node="117")
        take(driver, page, "explorer-choices", mode=4, dark=True)
        take(driver, write_report(run, data), "explorer-report", height=1300)
    driver.quit()


if __name__ == "__main__":
    main()
