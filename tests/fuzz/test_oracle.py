"""The oracle finds what it is for."""

import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
from oracle import Case, Ended, fault_of_document, fault_of_estimate, fault_of_printed, judged

import heldout as ho

ESTIMATE = ho.estimate(
    np.arange(40) % 2,
    np.random.default_rng(0).normal(size=(40, 3)),
    metric="roc_auc",
    n_bootstraps=20,
    random_state=0,
)
DOCUMENT = ESTIMATE.to_dict()


def raised(error: BaseException) -> Any:
    raise error


def warned() -> None:
    warnings.warn("something", RuntimeWarning, stacklevel=1)


@pytest.mark.parametrize(
    "attempt, fault",
    [
        (lambda: raised(KeyError("x")), "KeyError: 'x'"),
        (lambda: raised(ho.InputError("")), "an empty sentence"),
        (lambda: raised(ho.InputError("no end")), "not ended like a sentence"),
        (lambda: raised(ho.InputError(f"it is {'x ' * 2000}.")), "4007 characters"),
        (lambda: raised(ho.InputError("got \x1b[31m.")), "the words of a program"),
        (warned, "warned: RuntimeWarning: something"),
        (lambda: Ended(1, "", "Error: x."), "exit 1"),
        (lambda: Ended(2, "", "Traceback (most recent call last)"), "a traceback"),
        (lambda: Ended(2, "", "refused"), "exit 2 without a sentence"),
        (lambda: Ended(2, "", "Error: because"), "not ended like a sentence"),
        (lambda: Ended(0, "", "x.py:3: UserWarning: no"), "another package's warning"),
        (lambda: time.sleep(5), "no answer in"),
    ],
)
def test_a_wrong_answer_is_a_fault(
    attempt: Any, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "SECONDS", 1.0)
    assert fault in judged(Case("", attempt), tmp_path).fault


@pytest.mark.parametrize(
    "attempt", [lambda: raised(ho.InputError("got 5; give 6.")), lambda: Ended(2, "", "Note: a\nError: got 5.")]
)
def test_a_sentence_is_a_refusal(attempt: Any, tmp_path: Path) -> None:
    verdict = judged(Case("", attempt), tmp_path)
    assert verdict.refused and not verdict.fault
    assert judged(Case("", attempt, healthy=True), tmp_path).fault == "refused, and nothing is wrong with it"


@pytest.mark.parametrize(
    "changed, fault",
    [
        ({"value": None}, "no value and no flag"),
        ({"interval": {**DOCUMENT["interval"], "low": 0.9, "high": 0.1}}, "an interval from 0.9 to 0.1"),
        ({"interval": {**DOCUMENT["interval"], "low": 0.5, "high": 0.5}}, "an interval of no width"),
        ({"interval": {**DOCUMENT["interval"], "confidence_level": 95}}, "a level of 95"),
        ({"optimism": 0.5}, "and optimism 0.5"),
        ({"selection_frequency": [0.5, 0.2, 0.2]}, "add up to 0.89"),
        ({"flags": [{"flag": "x", "message": " "}]}, "a flag without a sentence"),
    ],
)
def test_a_number_that_cannot_be_is_a_fault(changed: dict[str, Any], fault: str) -> None:
    assert fault in str(fault_of_document({**DOCUMENT, "flags": [], **changed}))


def test_a_healthy_estimate_is_none() -> None:
    assert fault_of_estimate(ESTIMATE, 3) is None
    assert "selected 2 of 1" in str(fault_of_estimate(replace(ESTIMATE, selected=2), 1))
    assert fault_of_estimate(None) == "no Estimate but NoneType"
    assert fault_of_printed(Ended(0, "no JSON", "")) == "stdout is no JSON document: 'no JSON'"
    assert "a plain computation gives 0.25" in str(
        fault_of_printed(Ended(0, '{"value": 1, "uncorrected": 0.5}', ""), 0.25)
    )


def test_a_case_can_be_repeated_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    from repeat import main

    assert main("calls", "0") == 0
    assert "refused=True, fault=''" in capsys.readouterr().out
    assert main("calls", "0", "3") == 0
    assert capsys.readouterr().out.startswith("calls: 3 cases: ")
    assert "tests/fuzz" in sys.modules["repeat"].__file__  # type: ignore[operator]
