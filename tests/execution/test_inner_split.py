"""Stopping rows: which rows of a training part they are, what arrives at the model, and who is refused."""

import inspect
from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.errors import InputError
from heldout.execution.inner_split import EarlyStopping, InnerSplit, can_stop

RNG = np.random.default_rng(0)
N = 200
CLASSES = (RNG.random(N) < 0.3).astype(np.int32)
TRAIN = np.sort(RNG.permutation(N)[:160])


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_each_class_gives_its_share(share: float) -> None:
    stopping = EarlyStopping(InnerSplit(share), 1, CLASSES)
    drawn = stopping.stopping_rows(TRAIN, (0, 0))

    for code in (0, 1):
        of_class = CLASSES[TRAIN] == code
        assert abs(drawn[of_class].sum() - share * of_class.sum()) <= 0.5


def test_rare_classes_keep_rows_to_train_and_give_one_where_they_have_three() -> None:
    classes = np.repeat([0, 1, 2, 3], [40, 3, 2, 1]).astype(np.int32)
    drawn = EarlyStopping(InnerSplit(0.1), 1, classes).stopping_rows(np.arange(46), (0, 0))
    assert np.bincount(classes[drawn], minlength=4).tolist() == [4, 1, 0, 0]
    most = EarlyStopping(InnerSplit(0.99), 1, classes).stopping_rows(np.arange(46), (0, 0))
    assert np.bincount(classes[~most]).tolist() == [1, 1, 1, 1]


def test_the_rows_come_from_the_entropy_and_the_place() -> None:
    def rows(entropy: int, *place: int | str) -> bytes:
        return EarlyStopping(InnerSplit(0.2), entropy, CLASSES).stopping_rows(TRAIN, place).tobytes()

    assert rows(1, 0, 0) == rows(1, 0, 0)
    assert len({rows(1, 0, 0), rows(1, 0, 1), rows(1, 1, 0), rows(1, "refit"), rows(2, 0, 0)}) == 5


@pytest.mark.parametrize(
    "stopping, train",
    [
        (EarlyStopping(InnerSplit(0.2), 1, CLASSES, np.zeros(N, dtype=int)), TRAIN),  # one group
        (EarlyStopping(InnerSplit(0.2), 1, CLASSES, CLASSES), TRAIN),  # one group a class
        (EarlyStopping(InnerSplit(0.2), 1), TRAIN[:1]),
        (EarlyStopping(InnerSplit(0.1), 1, CLASSES), np.array([0, 1])),
    ],
)
def test_where_no_rows_can_be_spared_the_fit_fails_with_a_sentence(
    stopping: EarlyStopping, train: np.ndarray[Any, Any]
) -> None:
    with pytest.raises(InputError, match=r"finds no (rows|whole groups) among \d+ training rows"):
        stopping.stopping_rows(train, (0, 0))


def test_steps_learn_from_the_rows_that_train_and_the_stopping_rows_pass_them() -> None:
    X = RNG.normal(size=(N, 30)) + 0.5 * CLASSES[:, None]
    weights = RNG.random(N)
    inner = Pipeline([("select", SelectKBest(k=4)), ("fit", LGBMClassifier(n_estimators=60, verbose=-1, n_jobs=1))])
    model = Pipeline([("scale", StandardScaler()), ("inner", inner)])
    stopping = EarlyStopping(InnerSplit(0.3, 5), 1, CLASSES)
    params = {"inner__fit__sample_weight": weights[TRAIN]}
    stopping.fit(model, X[TRAIN], CLASSES[TRAIN], params, train=TRAIN, place=(0, 0))

    drawn = stopping.stopping_rows(TRAIN, (0, 0))
    train, stop = TRAIN[~drawn], TRAIN[drawn]
    scaler = StandardScaler().fit(X[train])
    select = SelectKBest(k=4).fit(scaler.transform(X[train]), CLASSES[train])
    by_hand = LGBMClassifier(n_estimators=60, verbose=-1, n_jobs=1, early_stopping_round=5).fit(
        select.transform(scaler.transform(X[train])),
        CLASSES[train],
        sample_weight=weights[train],
        **rows_to_stop_on(select.transform(scaler.transform(X[stop])), CLASSES[stop]),
        eval_sample_weight=[weights[stop]],
    )
    rows = select.transform(scaler.transform(X))

    assert 1 <= by_hand.best_iteration_ < 60
    np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(rows))


def rows_to_stop_on(X: Any, y: Any) -> dict[str, Any]:
    """As this version of LightGBM takes them."""
    new = "eval_X" in inspect.signature(LGBMClassifier.fit).parameters
    return {"eval_X": (X,), "eval_y": (y,)} if new else {"eval_set": [(X, y)]}


def test_models_that_stop_early_are_known_at_the_end_of_a_pipeline() -> None:
    boosted = HistGradientBoostingClassifier()
    assert can_stop(boosted) and can_stop(Pipeline([("a", StandardScaler()), ("b", boosted)]))
    assert can_stop(LGBMClassifier()) and not can_stop(LGBMClassifier(boosting_type="dart"))
    assert not can_stop(Pipeline([("a", StandardScaler()), ("b", RandomForestClassifier())]))


@pytest.mark.parametrize(
    "share, rounds, sentence",
    [
        (0, 20, "share must lie between 0 and 1, got 0; .1 is usual."),
        (True, 20, "share must lie between 0 and 1, got True"),
        ("a tenth", 20, "share must lie between 0 and 1, got 'a tenth'"),
        (0.1, 0, "rounds must be an integer of at least 1, got 0; 20 is usual."),
        (0.1, 2.5, "rounds must be an integer of at least 1, got 2.5"),
    ],
)
def test_shares_and_rounds_are_checked(share: Any, rounds: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ho.inner_split(share, rounds=rounds)


def test_numbers_of_numpy_become_plain() -> None:
    split = ho.inner_split(np.float64(0.2), rounds=np.int64(3))
    assert (type(split.share), type(split.rounds)) == (float, int), "LightGBM takes no others"
    assert repr(split) == "InnerSplit(share=0.2, rounds=3)"
