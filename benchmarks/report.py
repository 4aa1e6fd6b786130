"""How long the report on 2000 configurations takes to write and to open, and how large it is.

    python benchmarks/report.py [--configurations 2000] [--rounds 5]

The scores are random. The page is opened by a headless Chromium through its driver (chromedriver
on the PATH), each time in a new browser. The times are the browser's own, from the start of the navigation: to the
first text on the screen, and to the end of loading with the page's script run.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import heldout as ho
from heldout.report import facts, render_html

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))
from many_configurations import with_many_configurations

PORT = 9517
MEASURE = """
const [page] = performance.getEntriesByType("navigation");
const first = performance.getEntriesByName("first-contentful-paint")[0];
const rows = document.querySelectorAll("#ranking tbody tr"), shown = document.getElementById("shown").textContent;
const sort = document.getElementById("sort-by"), started = performance.now();
sort.value = "train";
sort.dispatchEvent(new Event("input", { bubbles: true }));
document.body.getBoundingClientRect();
return { paint: first ? first.startTime : null, loaded: page.loadEventEnd, rows: rows.length, shown,
         sorted: performance.now() - started };
"""


def call(method: str, path: str, body: Any = None) -> Any:
    """A command of the WebDriver protocol."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["value"]


@contextmanager
def driver() -> Iterator[None]:
    program = shutil.which("chromedriver")
    if program is None:
        raise SystemExit("chromedriver is not on the PATH, so the page is not opened.")
    process = subprocess.Popen([program, f"--port={PORT}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def opened(page: Path) -> dict[str, Any]:
    """The times of one opening, in milliseconds."""
    options = {"args": ["--headless", "--no-sandbox", "--disable-gpu"]}
    session = call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
    at = f"/session/{session['sessionId']}"
    try:
        call("POST", f"{at}/url", {"url": page.as_uri()})
        time.sleep(0.5)
        found: dict[str, Any] = call("POST", f"{at}/execute/sync", {"script": MEASURE, "args": []})
        return found
    finally:
        call("DELETE", at)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    search = ho.HeldOutSearchCV(
        LogisticRegression(max_iter=5000), {"C": [0.01, 1.0]}, scoring="roc_auc", random_state=0
    ).fit(X, y)
    content = with_many_configurations(facts(search.evaluation_), arguments.configurations)
    started = time.process_time()
    page = render_html(content)
    print(f"{arguments.configurations:,} configurations: {len(page.encode()) / 1e6:.2f} MB, "
          f"written in {time.process_time() - started:.1f} s of the processor")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, driver():
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        rounds = [opened(path) for _ in range(arguments.rounds)]
    for key, words in (("paint", "first text"), ("loaded", "loaded, script run"), ("sorted", "sorted again")):
        times = [each[key] for each in rounds if each[key] is not None]
        print(f"{words:20} {statistics.median(times):6.0f} ms (from {min(times):.0f} to {max(times):.0f})")
    print(f"rows {rounds[0]['rows']:,}; {rounds[0]['shown']}")


if __name__ == "__main__":
    main()
