"""A headless Chromium, driven by selenium; tests that need it are skipped where it is not installed."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcn.viz import write_explorer, write_report
from tests.viz.conftest import Trained

FLAGS = (
    *("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
    "--force-prefers-reduced-motion",
)


DOWN, UP, LEFT, RIGHT, ENTER, ESCAPE, TAB = "\ue015\ue013\ue012\ue014\ue007\ue00c\ue004"


class Page:
    """A page open in the browser, and what one does with it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path) -> str:
        """Open a page and wait until it is drawn; how it is drawn."""
        from selenium.webdriver.support.ui import WebDriverWait

        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        ready = "return document.documentElement.dataset.ready || null"
        return WebDriverWait(self.driver, 20).until(lambda driver: driver.execute_script(ready))

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return self.driver.execute_script("return document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
        return self.driver.execute_script(script, selector)

    @property
    def actions(self) -> Any:
        """What a hand does with mouse and keys, to be performed."""
        from selenium.webdriver.common.action_chains import ActionChains

        return ActionChains(self.driver)

    def press(self, *keys: str) -> None:
        self.actions.send_keys(*keys).perform()
        self.settle()

    def click_middle(self) -> None:
        """A real click on the middle of the graph."""
        self.actions.move_to_element(self.one("#graph")).click().perform()
        self.settle()

    def settle(self) -> None:
        """Wait for two frames."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )

    def find(self, text: str) -> None:
        """Search for a node and go to the first hit."""
        field = self.one("#search")
        field.clear()
        field.send_keys(text, ENTER)
        self.settle()

    def centre(self, text: str) -> None:
        """Bring a node into the middle, and let go of it."""
        self.find(text)
        self.press(ESCAPE)
        self.press(ESCAPE)

    def table(self, selector: str, number: int = 0) -> list[list[str]]:
        """The cells of one of the tables that a selector finds, its head first."""
        script = (
            "return [...document.querySelectorAll(arguments[0])[arguments[1]].rows]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        return self.driver.execute_script(script, selector, number)

    @property
    def complaints(self) -> list[str]:
        """What the console was told."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    @property
    def requests(self) -> list[str]:
        """The addresses that the browser asked for since the page was opened."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


def launch(*flags: str) -> Any:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is missing (pip install selenium)")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        missing = "chromium" if chromium is None else "chromedriver"
        pytest.skip(f"{missing} is not installed (Debian: apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, *flags):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    size = {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False}
    made.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    with launch() as driver:
        yield Page(driver)


@pytest.fixture(scope="session")
def browser_without_webgl() -> Iterator[Page]:
    with launch("--disable-3d-apis") as driver:
        yield Page(driver)


@pytest.fixture(scope="session")
def explorer(karate: Trained) -> Path:
    return write_explorer(karate.folder, karate.data)


@pytest.fixture(scope="session")
def report(karate: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(karate.folder, karate.data).replace(path)


@pytest.fixture(scope="session")
def hostile_page(hostile: Trained) -> Path:
    return write_explorer(hostile.folder, hostile.data)
