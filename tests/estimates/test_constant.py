"""The best constant model beside each score, and the flag of a score that is not clearly better."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn import metrics as sk
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.metrics.named import METRICS, metric_named

RNG = np.random.default_rng(0)
N = 120
Y = np.repeat([0, 1], [84, 36])
CLASSES = np.repeat([0, 1, 2], [60, 40, 20])
VALUES = RNG.gamma(2, size=N)
FOLDS = np.arange(N) % 5
SCORES = RNG.random((N, 2))
SHARES = np.array([60, 40, 20]) / N
FLAG = "not_better_than_guessing"


def constant(metric, y=Y, predictions=None, **settings):
    if predictions is None:
        predictions = SCORES
    return ho.estimate(y, predictions, metric=metric, method="cv", random_state=0, **settings).constant


def entropy(shares):
    return float(-(shares * np.log(shares)).sum())


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("accuracy", 0.7),
        ("balanced_accuracy", 0.5),
        ("matthews_corrcoef", 0.0),
        ("f1", 0.6 / 1.3),
        ("precision", 0.3),
        ("roc_auc", 0.5),
        ("somers_d", 0.0),
        ("average_precision", 0.3),
        ("log_loss", entropy(np.array([0.3, 0.7]))),
        ("neg_log_loss", -entropy(np.array([0.3, 0.7]))),
        ("brier_score", 0.21),
        ("nagelkerke_r2", 0.0),
    ],
)
def test_the_constant_of_two_classes_follows_from_the_prevalence(metric, expected):
    labels = (SCORES > 0.5).astype(int)
    reads_labels = "labels" in METRICS[metric].responses
    assert constant(metric, predictions=labels if reads_labels else SCORES) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("accuracy", 0.5),
        ("balanced_accuracy", 1 / 3),
        ("f1_macro", 2 * 0.5 / 1.5 / 3),
        ("quadratic_weighted_kappa", 0.0),
        ("roc_auc_ovr", 0.5),
        ("log_loss", entropy(SHARES)),
        ("brier_score", float(1 - (SHARES**2).sum())),
    ],
)
def test_the_constant_of_three_classes_follows_from_their_shares(metric, expected):
    probabilities = RNG.dirichlet(np.ones(3), (N, 2))[:, :, None]
    reads_labels = "labels" in METRICS[metric].responses
    predictions = probabilities[:, :, 0].argmax(axis=2) if reads_labels else probabilities
    assert constant(metric, CLASSES, predictions) == pytest.approx(expected, abs=1e-12)


def test_numbers_have_the_mean_or_the_median_as_their_constant():
    expected = {
        "root_mean_squared_error": VALUES.std(),
        "mean_squared_error": VALUES.var(),
        "mean_absolute_error": np.abs(VALUES - np.median(VALUES)).mean(),
        "r2": 0.0,
        "g_index": 0.0,
    }
    assert {name: constant(name, VALUES) for name in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "scorer",
    ["neg_mean_poisson_deviance", "neg_mean_gamma_deviance", "neg_mean_squared_log_error", "neg_max_error",
     "neg_mean_absolute_percentage_error", "explained_variance", "neg_median_absolute_error",
     "neg_mean_pinball_loss(alpha=0.9)"],
)  # fmt: skip
def test_no_other_constant_is_better(scorer):
    """Against a search for the constant, from several starts, as the median error has several dips."""
    metric = metric_named(scorer)
    if "pinball" in scorer:

        def score(c):
            return -sk.mean_pinball_loss(VALUES, np.full(N, c), alpha=0.9)

    else:
        function = sk.get_scorer(scorer)._score_func
        sign = sk.get_scorer(scorer)._sign

        def score(c):
            return sign * function(VALUES, np.full(N, c))

    grid = np.linspace(VALUES.min(), VALUES.max(), 200)
    best = grid[np.argmax([score(c) for c in grid])]
    step = grid[1] - grid[0]
    found = minimize_scalar(lambda c: -score(c), bounds=(best - step, best + step), method="bounded")
    tolerance = 0.02 if "median" in scorer else 1e-4
    assert constant(metric, VALUES, np.abs(SCORES) + 0.1) == pytest.approx(-found.fun, abs=tolerance)


def test_the_mean_over_folds_has_the_mean_over_folds_of_one_constant():
    folds = np.repeat(np.arange(4), [20, 20, 40, 40])
    means = [np.sqrt(np.mean((VALUES[folds == k] - VALUES.mean()) ** 2)) for k in range(4)]
    found = constant("root_mean_squared_error", VALUES, folds=folds, aggregate="folds")
    assert found == pytest.approx(np.mean(means)) and found != pytest.approx(VALUES.std(), abs=1e-4)
    within = constant("roc_auc", folds=FOLDS, aggregate="within")
    assert within == constant("roc_auc", folds=FOLDS, aggregate="folds") == 0.5


@pytest.mark.parametrize(
    "metric", ["log_loss", "average_precision", "f1", "mean_absolute_error", "root_mean_squared_error"]
)
def test_whole_number_weights_equal_repeated_rows(metric):
    weights = RNG.integers(0, 4, N)
    y = VALUES if "error" in metric else Y
    predictions = (SCORES > 0.5).astype(int) if metric == "f1" else SCORES
    repeated = constant(metric, np.repeat(y, weights), np.repeat(predictions, weights, axis=0))
    assert constant(metric, y, predictions, sample_weight=weights) == pytest.approx(repeated)


def test_survival_has_the_share_that_survives():
    times = np.ceil(RNG.exponential(10, N))
    event = RNG.random(N) < 0.7
    y = np.array(list(zip(event, times, strict=True)), dtype=[("event", bool), ("time", float)])
    assert constant("concordance_index", y) == 0.5 and constant("concordance_index_ipcw", y) == 0.5
    until = [4.0, 8.0, 12.0]
    metric = ho.metrics.IntegratedBrier(times=until)
    found = constant(metric, y, RNG.random((N, 2, 1, 3)))

    def kaplan_meier(t):
        left = 1.0
        for time in np.unique(times[event & (times <= t)]):
            left *= 1 - (event & (times == time)).sum() / (times >= time).sum()
        return left

    curve = np.array([kaplan_meier(t) for t in until])
    at = ho.estimate(y, np.tile(curve, (N, 1, 1, 1)), metric=metric, method="cv").value
    assert found == pytest.approx(at, rel=1e-3) and found <= at + 1e-12


@pytest.mark.parametrize("metric", ["recall", "calibration_slope", "ici"])
def test_a_metric_in_which_a_constant_can_be_perfect_has_none(metric):
    predictions = (SCORES > 0.5).astype(int) if metric == "recall" else SCORES
    folds = {"folds": FOLDS, "aggregate": "folds"} if metric != "ici" else {}
    found = ho.estimate(Y, predictions[:, :1], metric=metric, method="cv", random_state=0, **folds)
    assert found.constant is None and FLAG not in found.flags


def test_specificity_a_metric_of_the_user_s_own_and_scores_alone_have_none():
    specificity = ho.metrics.Recall(pos_label=0)
    assert constant(specificity, predictions=(SCORES > 0.5).astype(int)) is None
    own = ho.metrics.custom(lambda y, p: float(p.mean()), greater_is_better=True, response="probabilities")
    assert constant(own) is None
    assert ho.estimate_from_scores(RNG.random((5, 3)), greater_is_better=True, method="cv").constant is None


def spellings():
    """Five spellings of two answers, and predictions that know a little of the answer."""
    y = RNG.choice(["Ja", "ja", "yes", "Nein", "nein"], 390, p=[0.30, 0.05, 0.10, 0.49, 0.06])
    guess = np.where(RNG.random(390) < 0.02, y, "Nein")
    return y, guess[:, None]


def test_classes_of_several_spellings_are_no_better_than_guessing():
    y, predictions = spellings()
    found = ho.estimate(y, predictions, metric="accuracy", random_state=0)
    majority = np.unique(y, return_counts=True)[1].max() / len(y)
    assert found.constant == pytest.approx(majority) and found.value > majority
    sentence = found.flags[FLAG]
    assert f"has accuracy {majority:.4g}" in sentence and f"reaches to {found.interval.low:.4g}" in sentence


def test_without_an_interval_the_value_decides_and_an_open_worse_side_is_no_end():
    better = np.where(RNG.random((N, 1)) < 0.9, Y[:, None], 1 - Y[:, None])
    majority = np.zeros((N, 1), dtype=int)
    for settings in ({"method": "cv"}, {"alternative": "less"}, {"alternative": "greater"}, {}):
        asked = {"metric": "accuracy", "classes": [0, 1], "random_state": 0, "n_bootstraps": 100}
        assert FLAG not in ho.estimate(Y, better, **asked, **settings).flags
        assert FLAG in ho.estimate(Y, majority, **asked, **settings).flags
    assert (
        "the value is 0.7" in ho.estimate(Y, majority, metric="accuracy", method="cv", classes=[0, 1]).flags[FLAG]
    )


@pytest.mark.parametrize(
    ("metric", "shift", "flagged"),
    [("roc_auc", 0.0, True), ("log_loss", 0.0, True), ("roc_auc", 2.5, False), ("log_loss", 2.5, False)],
)
def test_noise_is_flagged_and_signal_is_not(metric, shift, flagged):
    """Of 16 samples of 120 rows each: noise at least 14 times (95 % intervals), an AUC of .96 never."""
    rng, flags = np.random.default_rng(1), 0
    for _ in range(16):
        logits = shift * (2 * Y[:, None] - 1) / 2 + rng.normal(size=(N, 3)) * (1 if shift else 0.1)
        probabilities = 1 / (1 + np.exp(-(shift or 1) * logits - np.log(0.3 / 0.7)))
        found = ho.estimate(Y, probabilities, metric=metric, folds=FOLDS, n_bootstraps=60, random_state=0)
        flags += FLAG in found.flags
    assert flags >= 14 if flagged else flags == 0


def test_protocols_and_validation_have_it_too():
    X = np.c_[3 * Y + RNG.normal(size=N), RNG.normal(size=N)]
    asked = {"scoring": "neg_log_loss", "cv": 3, "random_state": 0}
    search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **asked)
    nested = ho.nested_cv(search, X, Y)
    assert nested.constant == pytest.approx(-entropy(np.array([0.3, 0.7])), rel=1e-3)
    validation = ho.bootstrap_validate(
        LogisticRegression(), X, Y, metric="roc_auc", n_bootstraps=10, random_state=0
    )
    assert validation.estimates["roc_auc"].constant == 0.5
    repeated = ho.bootstrap_search(search, X, Y, n_bootstraps=2)
    assert repeated.constant == pytest.approx(-entropy(np.array([0.3, 0.7])))
    for each in (nested, validation.estimates["roc_auc"], repeated):
        assert FLAG not in each.flags
    dummy = ho.HeldOutSearchCV(DummyClassifier(), {"strategy": ["prior"]}, scoring="accuracy", random_state=0)
    guess = ho.nested_cv(dummy, X, Y)
    assert guess.constant == pytest.approx(0.7) and FLAG in guess.flags


@pytest.mark.usefixtures("page_of_words")
def test_it_is_shown_in_every_output(tmp_path):
    rng = np.random.default_rng(3)
    y = rng.choice(["no", "yes"], 150, p=[0.7, 0.3])
    search = ho.HeldOutSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, scoring=["accuracy", "roc_auc"],
        refit="accuracy", random_state=0,
    ).fit(rng.normal(size=(150, 3)), y)  # fmt: skip
    found, share = search.estimate_, (y == "no").mean()
    assert found.constant == pytest.approx(share) and FLAG in found.flags
    assert json.loads(json.dumps(found.to_dict()))["constant"] == found.constant
    assert found.to_frame()["constant"].tolist() == [found.constant]
    assert f"{share:.4g}" in found._repr_html_() and "constant model" in found._repr_html_()
    card = ho.report_card(search)
    assert f"A model that predicts the same for every row has {share:.3f}." in card
    assert "| Constant model |" in card and "not clearly better than guessing" in card
    page = search.report(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page is not None and "constant model</dt>" in html and "not clearly better than guessing" in html
