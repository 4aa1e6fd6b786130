"""Correlated columns: true scores against large simulations, kinds of matrices, and structures of real searches."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from heldout.errors import InputError
from heldout_papers.corrections.correlated import (
    VARIANTS,
    CorrelatedSource,
    correlated_sources,
    drawn_columns,
    of_classes,
    of_numbers,
)
from heldout_papers.corrections.structure import KINDS, METRICS, Kind, structures

MANY = 60_000


@pytest.mark.parametrize("variant", VARIANTS)
def test_true_scores_of_classes_are_those_of_very_many_rows(variant: str) -> None:
    rng = np.random.default_rng(5)
    columns = drawn_columns(rng, structures("classification")[3], variant, 9)

    y, _, p, truths = of_classes(rng, columns, MANY, is_coarse=variant == "ties")
    loss = -np.where(y[:, None] == 1, np.log(np.maximum(p, 1e-300)), np.log(np.maximum(1 - p, 1e-300)))

    assert abs(((p > 0.5) == y[:, None]).mean(axis=0) - truths["accuracy"]).max() < 4 * 0.5 / np.sqrt(MANY)
    areas = np.array([roc_auc_score(y, column) for column in p.T])
    assert abs(areas - truths["roc_auc"]).max() < 0.012
    assert (abs(loss.mean(axis=0) - truths["log_loss"]) < 4 * loss.std(axis=0) / np.sqrt(MANY) + 1e-9).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_true_scores_of_numbers_are_those_of_very_many_rows(variant: str) -> None:
    rng = np.random.default_rng(6)
    columns = drawn_columns(rng, structures("regression")[2], variant, 9)

    y, _, predicted, truths = of_numbers(rng, columns, MANY)
    square = (y[:, None] - predicted) ** 2

    assert (abs(square.mean(axis=0) - (1 - truths["r2"])) < 4 * square.std(axis=0) / np.sqrt(MANY)).all()
    assert truths["root_mean_squared_error"] ** 2 == pytest.approx(1 - truths["r2"])


def test_ties_have_every_column_three_times() -> None:
    (known,) = CorrelatedSource("regression", "ties", 40, 9, ("r2",)).matrices(0, 0)
    predictions = np.asarray(known.predictions)

    assert len(np.unique(predictions, axis=1).T) == 3
    assert len(np.unique(known.truths)) == 3
    (coarse,) = CorrelatedSource("classification", "ties", 40, 9, ("accuracy",)).matrices(0, 0)
    assert set(np.unique(np.asarray(coarse.predictions))) <= {0.1, 0.3, 0.7, 0.9}


def test_kinds_differ_in_their_true_scores_as_they_should() -> None:
    def truths(variant: str) -> np.ndarray:
        source = CorrelatedSource("classification", variant, 40, 30, ("accuracy",))
        return np.stack([source.matrices(1, r)[0].truths for r in range(20)])

    plain, tails, ceiling = truths("plain"), truths("tails"), truths("ceiling")

    assert ceiling.max(axis=1).min() > 0.95
    assert np.median(tails) < np.median(plain)
    assert tails.max(axis=1).mean() > 0.7


def test_more_columns_than_the_structure_has_differ() -> None:
    (known,) = CorrelatedSource("classification", "plain", 40, 100, ("roc_auc",)).matrices(0, 0)

    assert known.truths.shape == (100,)
    assert len(np.unique(np.asarray(known.predictions), axis=1).T) > 90  # real searches hold some copies too


def test_metrics_share_the_predictions_of_a_repetition_and_repetitions_differ() -> None:
    source = CorrelatedSource("classification", "plain", 20, 5, METRICS["classification"])
    first, again, other = source.matrices(0, 0), source.matrices(0, 0), source.matrices(0, 1)

    assert all(np.array_equal(one.predictions, first[0].predictions) for one in (*first, *again))
    assert not np.array_equal(first[0].predictions, other[0].predictions)
    assert [cell.metric for cell in source.cells] == list(METRICS["classification"])


def test_columns_depend_on_each_other_as_their_loadings_say() -> None:
    rng = np.random.default_rng(0)
    columns = drawn_columns(rng, structures("classification")[0], "plain", 6)
    y, _, p, _ = of_classes(rng, columns, 40_000, is_coarse=False)
    logits = np.log(p) - np.log1p(-p)
    varied = (columns.slope > 0) & (columns.slope < 4)  # logits of steeper ones are cut off
    residual = (logits - columns.slope * columns.signal * y[:, None])[:, varied]
    wanted = columns.loadings @ columns.loadings.T
    np.fill_diagonal(wanted, 1.0)

    assert np.corrcoef(residual.T) == pytest.approx(wanted[np.ix_(varied, varied)], abs=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_every_structure_of_the_package_can_be_drawn(kind: Kind) -> None:
    for structure in structures(kind):
        assert (abs(structure.signal) < (6 if kind == "classification" else 1)).all()
        assert (structure.slope >= 0).all()
        assert ((structure.loadings**2).sum(axis=1) < 1).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((15, None, None, None), "rows must be a whole number from 16 on, got 15."),
        ((None, None, "odd", None), "variants must be some of plain, tails, ceiling, ties, got 'odd'."),
        ((None, None, None, "mcc"), 'metrics of part "correlated" must be some of accuracy, roc_auc, log_loss'),
    ],
)
def test_settings_that_are_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        correlated_sources(*arguments)


def test_the_usual_settings() -> None:
    sources = correlated_sources(None, None, None, "r2")

    assert len(sources) == 4 * 4 * 3
    assert {source.kind for source in sources} == {"regression"}
