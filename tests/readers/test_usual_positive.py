"""Which of two text labels commands take for the positive class."""

import pytest

from heldout.data.task import truth_of
from heldout.readers.table_task import with_usual_positive


@pytest.mark.parametrize(
    ("one", "other", "positive"),
    [
        ("Ja", "Nein", "Ja"), ("yes", "no", "yes"), ("YES", "No ", "YES"), ("case", "control", "case"),
        ("ill", "healthy", "ill"), ("bad", "good", "bad"), ("abnormal", "normal", "abnormal"),
        ("malignant", "benign", "malignant"), ("krank", "gesund", "krank"), ("dead", "alive", "dead"),
        ("event", "no event", "event"), ("event", "non-event", "event"), ("-", "+", "+"),
        ("Kontrolle", "Fall", "Fall"),
        ("positiv", "negativ", "positiv"), ("spam", "ham", "spam"), ("b", "a", "b"), ("M", "F", "M"),
        ("no", "none", "none"), ("false", "true", "true"), ("notable", "dull", "notable"),
    ],
)  # fmt: skip
def test_the_case_is_positive(one: str, other: str, positive: str) -> None:
    for labels in ([one, other], [other, one]):
        assert with_usual_positive(truth_of(labels)).pos_label == positive
        assert truth_of(labels).pos_label == sorted(labels)[-1], "the Python API takes the last"


def test_numbers_and_several_classes_stay() -> None:
    for labels in ([0, 1], [True, False], ["no", "a", "b"]):
        truth = truth_of(labels)
        assert with_usual_positive(truth).positive == truth.positive
