from citations import cited_by_the_library

from heldout.metrics import ConcordanceUno, metric_named
from heldout.references import REFERENCES


def test_every_source_is_known():
    assert cited_by_the_library() <= set(REFERENCES)


def test_a_metric_in_the_sign_of_a_scorer_cites_the_same():
    assert metric_named("neg_brier_score").sources == ("brier1950",)
    assert ConcordanceUno(tau=3.0).sources == ("uno2011",)
    assert metric_named("accuracy").sources == ()
