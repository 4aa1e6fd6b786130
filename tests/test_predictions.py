import numpy as np
import pytest

from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions

DECISION = np.arange(12.0).reshape(4, 3, 1)
PROBABILITY = DECISION / 12


def held(**responses):
    return HeldOutPredictions({Response[name.upper()]: array for name, array in responses.items()}, tuple("abc"))


def test_a_metric_reads_its_first_response():
    both = held(decision=DECISION, probabilities=PROBABILITY)
    assert both.for_metric(metric_named("roc_auc")) is both.responses[Response.DECISION]
    assert both.for_metric(metric_named("log_loss")) is both.responses[Response.PROBABILITIES]


def test_a_configuration_without_decisions_is_read_by_its_probabilities():
    some = DECISION.copy()
    some[:, 1] = np.nan
    both = held(decision=some, probabilities=PROBABILITY)
    read = both.for_metric(metric_named("roc_auc"))
    np.testing.assert_array_equal(read[:, 1], PROBABILITY[:, 1])
    np.testing.assert_array_equal(read[:, [0, 2]], DECISION[:, [0, 2]])
    assert np.isnan(both.responses[Response.DECISION][:, 1]).all()  # the record itself is as it was


def test_what_was_predicted():
    labels = np.array([[0, 1, -1], [1, 1, 1]])[:, :, None]
    assert held(labels=labels).predicted(metric_named("accuracy"))[:, :, 0].tolist() == [[1, 1, 0], [1, 1, 1]]
    cube = np.full((2, 3, 1, 2), 0.5)
    cube[1, 2, 0, 1] = np.nan
    assert held(probabilities=cube).predicted(metric_named("log_loss")).sum() == 5


def test_a_response_that_is_not_held_is_named():
    with pytest.raises(InputError, match="log_loss needs probabilities, but the predictions hold decision"):
        held(decision=DECISION).for_metric(metric_named("log_loss"))


def test_repr_names_the_shape():
    assert repr(held(decision=DECISION)) == ("HeldOutPredictions(4 rows x 3 configurations x 1 repeats: decision)")
