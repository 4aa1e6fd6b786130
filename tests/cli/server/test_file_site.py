"""A file that is sent is read and answered as by ``heldout estimate FILE``; a form asks for the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from sklearn.linear_model import LogisticRegression

import heldout as ho
from heldout.cli.estimate import command as estimate_command
from heldout.cli.server.fields import form_options
from heldout.cli.server.file_site import MOST_FILES, FileSite

pytestmark = pytest.mark.processes
N = 80
RNG = np.random.default_rng(0)
Y = np.resize(["no", "yes"], N)
FRAME = pd.DataFrame(
    {
        "outcome": Y,
        "a": (Y == "yes") + RNG.normal(size=N),
        "<b>": (Y == "yes") + RNG.normal(size=N),
        "fold": np.arange(N) % 4,
    }
)


@pytest.fixture
def client(serve: Callable[..., Any]) -> Any:
    return serve(FileSite())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "been & <gone>.csv"
    FRAME.to_csv(path, index=False)
    return path


def test_the_form_asks_for_what_the_file_does_not_say(client: Any, file: Path, command: Callable[..., Any]) -> None:
    asked = client.send(file)
    ended = command("estimate", file.name)
    said = ended.err.removeprefix("Error: ").strip()
    assert escape(said) in asked.text, "the sentence that the command prints"
    assert re.search(r'<select id="target"[^>]* aria-invalid="true" autofocus>', asked.text)
    assert "<option>&lt;b&gt;</option>" in asked.text and "<option><b>" not in asked.text
    assert "been &amp; &lt;gone&gt;.csv" in asked.text and str(client.server.folder) not in asked.text

    wrong = client.choose("file-1", "target=outcome&metric=r2")
    ended = command("estimate", file.name, "--target", "outcome", "--metric", "r2")
    assert escape(ended.err.removeprefix("Error: ").strip()) in wrong.text
    found = client.choose("file-1", "target=outcome&fold=fold&positive=no&metric=roc_auc&method=bbc")
    ended = command(
        "estimate", file.name, "--target", "outcome", "--fold", "fold", "--positive", "no",
        "--metric", "roc_auc", "--method", "bbc", "--json",
    )  # fmt: skip
    assert f'<p class="value">{json.loads(ended.out)["value"]:.3f}</p>' in found.text
    first = (
        "been &amp; &lt;gone&gt;.csv: 80 rows, 2 configurations (&#39;a&#39; to &#39;&lt;b&gt;&#39;), binary target"
    )
    assert first in found.text, "what was recognised"
    assert "heldout estimate &#39;been &amp; &lt;gone&gt;.csv&#39; --target=outcome" in found.text
    assert "<option selected>outcome</option>" in found.text and '<option value="yes">' in found.text
    assert "script-src 'unsafe-inline'" in found.headers["content-security-policy"]

    alone = client.get("file-1-report.html")
    assert 'class="band"' in found.text and 'class="band"' not in alone.text
    assert client.get("file-2").status == client.get("file-2-report.html").status == 404
    assert client.choose("file-2", "target=a").status == 404
    assert [path.name for path in client.server.folder.glob("*/*")] == [file.name]


def test_files_of_heldout_need_no_form(client: Any, tmp_path: Path) -> None:
    X = RNG.normal(size=(N, 2))
    store = tmp_path / "run.db"
    search = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, n_bootstraps=50, random_state=0, store=store
    ).fit(X, Y)
    found = client.send(store)
    assert f'<p class="value">{search.corrected_score_:.3f}</p>' in found.text


def test_what_cannot_be_read_gets_the_sentence_of_the_command(
    client: Any, tmp_path: Path, command: Callable[..., Any]
) -> None:
    path = tmp_path / "empty.csv"
    path.touch()
    said = command("estimate", "empty.csv", "--target", "a").err.removeprefix("Error: ").strip()
    assert said.startswith("empty.csv is empty (0 bytes)")
    asked = client.send(path)
    assert escape(said) in asked.text
    assert '<input type="text" id="target"' in asked.text, "its columns are not known"
    assert client.send(None, target="x").text == client.get().text, "no file was chosen"
    assert client.send(path, called="../../../../evil.csv").status == 200
    assert (
        not (tmp_path / "evil.csv").exists() and client.server.folder.parent.joinpath("evil.csv").exists() is False
    )


def test_few_files_are_kept(client: Any, file: Path) -> None:
    for n in range(MOST_FILES + 1):
        assert client.send(file, called=f"{n}.csv").status == 200
    assert client.get("file-1").status == 404 and client.get("file-2").status == 200
    assert sorted(path.name for path in client.server.folder.glob("*/*")) == ["1.csv", "2.csv", "3.csv"]


def test_a_file_that_is_too_large_gets_a_sentence(serve: Callable[..., Any], file: Path) -> None:
    small = serve(FileSite(most_bytes=100))
    refused = small.send(file)
    assert refused.status == 413 and "use heldout estimate FILE" in refused.text
    assert not list(small.server.folder.iterdir())
    assert 'data-most="100"' in small.get().text


def test_values_are_values_and_never_options(client: Any, file: Path) -> None:
    client.send(file)
    asked = client.choose("file-1", "target=outcome&fold=fold&metric=--out%3Dx&out=x&quiet=yes")
    assert "&#39;--out=x&#39;" in asked.text and 'role="alert"' in asked.text
    assert [path.name for path in client.server.folder.glob("*/*")] == [file.name]


def test_fields_are_options_of_the_command(client: Any) -> None:
    known = {each.name for each in estimate_command.params}
    assert known - form_options().keys() == {"file", "out", "as_json", "quiet", "out_of_core", "n_jobs"}
    assert [*form_options()][:3] == ["target", "metric", "positive"]
    assert client.get("drop.js").headers["content-type"].startswith("text/javascript")
