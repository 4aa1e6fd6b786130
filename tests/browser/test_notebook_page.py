"""Results in pages like those of notebooks, in a headless Chromium: colours and fonts are those of the page."""

import html
import json
import re
from pathlib import Path

import numpy as np
from headless import MARKS, chromium
from sklearn.linear_model import LogisticRegression

import heldout as ho
from heldout.spaces.regressions import NO_PENALTY

pytestmark = MARKS
THEMES = {"jupyter-light": ("#111", "#fff"), "jupyter-dark": ("#eee", "#111"), "vscode-dark": ("#ccc", "#1e1e1e")}
"""Name → the colours of text and background."""
STYLE = """
main { padding: 12px; font: 13px/1.5 sans-serif; width: 980px; }
table { border-collapse: collapse; font-size: 12px; table-layout: fixed; margin-bottom: 1em; }
td, th, tr { text-align: right; vertical-align: middle; padding: 0.5em; border: none; white-space: normal; }
.vscode-dark th { font-weight: 600; }
"""
MEASURE = """
<script>
const measured = {};
for (const page of document.querySelectorAll("main")) {
  const own = getComputedStyle(page), others = [...page.querySelectorAll("*")];
  measured[page.className] = {
    colours: [...new Set(others.map((e) => getComputedStyle(e).color))],
    inherited: own.color,
    backgrounds: [...new Set(others.map((e) => getComputedStyle(e).backgroundColor))],
    families: [...new Set(others.map((e) => getComputedStyle(e).fontFamily))],
    left: [...page.querySelectorAll("tr > th:first-child")].every((e) => getComputedStyle(e).textAlign === "left"),
    beyond: others.filter((e) => e.getBoundingClientRect().right > page.getBoundingClientRect().right + 1).length,
    numbers: page.innerText,
  };
}
measured.loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
document.body.dataset.measured = JSON.stringify(measured);
</script>
"""


def page_of(results: list[object]) -> str:
    shown = "".join(each._repr_html_() for each in results)  # type: ignore[attr-defined]
    themes = "".join(
        f'<main class="{name}" style="color: {text}; background: {ground}">{shown}</main>'
        for name, (text, ground) in THEMES.items()
    )
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style><body>{themes}{MEASURE}'


def test_light_and_dark_pages_lend_results_their_colours(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    model = LogisticRegression(C=NO_PENALTY, solver="newton-cholesky")
    found = ho.bootstrap_validate(model, X, y, metric="rms", n_bootstraps=10, random_state=0)
    P = np.clip(0.5 + 0.2 * X, 0.01, 0.99)
    settings = {"metric": "roc_auc", "folds": np.arange(80) % 4, "n_bootstraps": 40, "random_state": 0}
    comparison = ho.compare_configurations(y, P, **settings)
    results = [ho.estimate(y, P, **settings), found, found.coefficients, comparison.difference(0, 1)]
    path = tmp_path / "page.html"
    path.write_text(page_of([*results, comparison, comparison.confidence_set()]), encoding="utf-8")

    match = re.search(r'data-measured="([^"]*)"', chromium(tmp_path, "--dump-dom", path.as_uri()).stdout)
    measured = json.loads(html.unescape(match[1]))
    assert measured.pop("loaded") == []
    assert measured.keys() == THEMES.keys()
    for theme in measured.values():
        assert theme["colours"] == [theme["inherited"]]
        assert theme["backgrounds"] == ["rgba(0, 0, 0, 0)"]
        assert len(theme["families"]) == 1 and theme["left"] and not theme["beyond"]
        assert f"{found.rows['somers_d'].corrected:.4f}" in theme["numbers"]
