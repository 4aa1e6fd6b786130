"""The keys of the references that the library cites."""

from heldout.advice import Advice
from heldout.dropping import RULES as DROP_RULES
from heldout.estimates import METHODS
from heldout.estimates.ordered_rows import SOURCES_OF_KIND, SOURCES_OF_LENGTH
from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.imputation.backward import BackwardSelection
from heldout.imputation.settings import SOURCES_OF_ORDER, Imputation
from heldout.metrics.named import DECLARED
from heldout.protocols.learning_curve import IPL
from heldout.protocols.nested import conclusion as nested
from heldout.protocols.validation.corrections import CORRECTIONS
from heldout.protocols.validation.curves import CALIBRATION_SOURCES, DECISION_SOURCES, ROC_SOURCES
from heldout.protocols.validation.intervals import SOURCES_OF_INTERVAL
from heldout.search.optuna import regret
from heldout.selection import RULES

BY_THE_REPORT = {"wilson1927", "pedregosa2011", "heldout"}
"""Of the bars of its calibration plot, and of the software in its methods text."""


def cited_by_the_library() -> set[str]:
    cited = BY_THE_REPORT | set(ConfigurationComparison.sources) | set(IPL.sources)
    cited |= {*nested.SOURCES, *nested.SOURCES_ACROSS}
    cited |= {key for keys in nested.SOURCES_OF_INTERVAL.values() for key in keys}
    cited |= {key for make in METHODS.values() for key in make().sources}
    cited |= {key for make in CORRECTIONS.values() for key in make().sources}
    cited |= {*CALIBRATION_SOURCES, *ROC_SOURCES, *DECISION_SOURCES}
    cited |= {key for keys in SOURCES_OF_INTERVAL.values() for key in keys}
    cited |= {key for order in SOURCES_OF_ORDER for key in Imputation(order=order).sources}
    cited |= {*Imputation(selection=BackwardSelection()).sources}
    cited |= {key for metric in DECLARED for key in metric.sources}
    cited |= {key for make in DROP_RULES.values() for key in make.sources}
    cited |= {*SOURCES_OF_LENGTH, *(key for keys in SOURCES_OF_KIND.values() for key in keys)}
    cited |= set(Advice.sources) | set(regret.SOURCES)
    return cited | {key for make in RULES.values() for key in getattr(make(), "sources", ())}
