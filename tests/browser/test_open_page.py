"""``heldout open`` in a headless Chromium: a file is dropped or chosen, and a run is followed to its end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from devtools import CHROMIUM, SECONDS, Browser
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import heldout as ho
from heldout.cli.server.file_site import FileSite
from heldout.cli.server.loopback import LoopbackServer
from heldout.cli.server.reply import Site
from heldout.cli.server.run_site import RunSite
from heldout.report import report_content

pytestmark = [
    pytest.mark.processes,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is on the PATH"),
]
N = 90
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.resize(["no", "yes"], N)
TAB, ENTER = ("Tab", 9), ("Enter", 13)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    page = Browser(tmp_path_factory.mktemp("browser"), width=1000)
    yield page
    page.close()


@contextmanager
def served(site: Site) -> Iterator[str]:
    server = LoopbackServer(site)
    server.start()
    yield server.address
    assert server.close()


class Fitted(LogisticRegression):
    """Waits at one of its fits until the test has looked at the page."""

    n_fits, looked = 0, threading.Event()

    def fit(self, X, y):  # type: ignore[no-untyped-def]
        Fitted.n_fits += 1
        if Fitted.n_fits == 9:
            threading.Event().wait(0.2)  # what was fitted before is acknowledged
        if Fitted.n_fits == 10:
            assert Fitted.looked.wait(3 * SECONDS)
        return super().fit(X, y)


def test_a_file_is_dropped_or_chosen_and_answered(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "<script>alert(1)</script>é.csv".replace("/", "∕")
    columns = {"<script>alert(2)</script>": X[:, 0], "{{ 7 * 7 }}": X[:, 1]}
    pd.DataFrame({"outcome": Y, **columns}).to_csv(file, index=False)
    with served(FileSite()) as address:
        browser.go(address)
        browser.drop(".zone", file)
        browser.wait_for("location.pathname.endsWith('/file-1')")
        browser.wait_for("document.activeElement.id === 'target'")
        assert "--target is needed" in browser.js("document.querySelector('[role=alert]').innerText")
        browser.js("document.activeElement.value = 'outcome'")
        browser.js("document.forms[0].requestSubmit()")
        browser.wait_for("document.querySelector('.band') !== null && document.readyState === 'complete'")
        text = browser.js("document.body.innerText")
        assert f"{file.name}: 90 rows, 2 configurations" in text and "ROC AUC of the selected model" in text
        assert "{{ 7 * 7 }}" in text and "<script>alert(2)</script>" in text
        assert browser.js("document.querySelectorAll('figure svg').length") > 0
        assert browser.js("performance.getEntriesByType('resource').map(e => e.name)") == []

        browser.go(address)
        browser.js("document.body.tabIndex = -1, document.body.focus()")
        browser.press(*TAB)
        browser.wait_for("document.activeElement.id === 'file'")  # the first stop of the keyboard
        browser.choose("#file", file)
        browser.press(*TAB)
        browser.wait_for("document.activeElement.innerText === 'Estimate'")
        browser.press(*ENTER)
        browser.wait_for("location.pathname.endsWith('/file-2')")

    with served(FileSite(most_bytes=100)) as address:
        browser.go(address)
        browser.drop(".zone", file)
        browser.wait_for("!document.getElementById('problem').hidden")
        assert "too large" in browser.js("document.getElementById('problem').innerText")
    assert not browser.messages


def test_a_run_is_followed_to_its_end_without_reloading(browser: Browser, tmp_path: Path) -> None:
    Fitted.n_fits, folder = 0, tmp_path / "out"
    Fitted.looked.clear()
    folder.mkdir()
    search = ho.HeldOutSearchCV(
        Fitted(), {"C": [0.1, 1.0]}, cv=KFold(6), n_bootstraps=50, random_state=0, share=False,
        store=folder / "run.db",
    )  # fmt: skip
    fitting = threading.Thread(target=search.fit, args=(X, Y))
    fitting.start()
    while not (folder / "run.db").exists() or Fitted.n_fits < 10:
        assert fitting.is_alive()
        threading.Event().wait(0.01)
    try:
        with served(RunSite(folder)) as address:
            browser.go(address)
            browser.js("window.same = true")
            browser.wait_for("document.querySelector('#estimate .value') !== null")
            assert browser.js("document.getElementById('state').innerText") == "Running"
            assert "unfinished" in browser.js("document.getElementById('estimate').innerText")
            browser.wait_for("document.title.endsWith('% out')")
            browser.wait_for("document.querySelector('progress').value >= 8")
            assert browser.js("document.querySelector('progress').value") < 12
            Fitted.looked.set()
            fitting.join()
            browser.wait_for("document.getElementById('state').innerText === 'All fits are done'")
            browser.wait_for("!document.getElementById('estimate').innerText.includes('unfinished')")
            assert browser.js("window.same"), "the page stayed, and its parts were replaced"
            assert browser.js("document.querySelector('progress').value") == 12
            assert f"{search.corrected_score_:.3f}" in browser.js("document.querySelector('.value').innerText")
            content = report_content(search.evaluation_, title="of the command")
            (folder / "report.json").write_text(json.dumps(content.to_dict()))
            browser.wait_for("document.body.innerText.includes('of the command')")
            assert browser.js("window.same") is None, "the report is a page of its own"
            assert not browser.messages
    finally:
        Fitted.looked.set()
        fitting.join()
