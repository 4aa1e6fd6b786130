"""Which configuration the saved model of a run is, beside an estimate from the predictions of that run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.flags import Flag

if TYPE_CHECKING:
    from heldout.cli.console import Row
    from heldout.estimates.types import Estimate
    from heldout.readers.own_metadata import ColumnRoles

MODEL_FILE = "model.skops"


@dataclass(frozen=True)
class SavedWinner:
    """The configuration of a run's model, and what it was selected by."""

    name: str
    metric: str
    aggregate: str | None
    selection: str | None
    file: str
    """The path of the model beside the predictions; empty where there is none."""

    @classmethod
    def of(cls, roles: ColumnRoles | None, path: str) -> SavedWinner | None:
        """That of a table of ``heldout tune``; None of another table, or where the file does not say."""
        if roles is None or roles.settings.winner is None:
            return None
        model = Path(path).with_name(MODEL_FILE)
        return cls(
            name=roles.names[roles.settings.winner],
            metric=roles.metric,
            aggregate=roles.settings.aggregate,
            selection=roles.settings.selection,
            file=str(model) if model.exists() else "",
        )

    def flagged(self, estimate: Estimate, metric: str, selection: str) -> Estimate:
        """The estimate with a flag if it is of another configuration.

        ``metric``, ``selection``: what the estimate selects by.
        """
        if estimate.selected_name == self.name:
            return estimate
        why = self._why_other(estimate, metric, selection)
        sentence = Flag.OTHER_MODEL.filled(model=self.name, selected=estimate.selected_name, why=why)
        return replace(estimate, flags={**estimate.flags, Flag.OTHER_MODEL: sentence})

    def row(self, estimate: Estimate) -> Row:
        """The label and text for the table of results."""
        where = f" ({self.file})" if self.file else ""
        return "saved model", f"{self.name}{where}" if Flag.OTHER_MODEL in estimate.flags else f"the same{where}"

    def to_dict(self, estimate: Estimate) -> dict[str, Any]:
        """Plain values for JSON."""
        is_selected = estimate.selected_name == self.name
        return {"configuration": self.name, "is_selected": is_selected, "file": self.file or None}

    def _why_other(self, estimate: Estimate, metric: str, selection: str) -> str:
        from heldout.estimates.types import was_named

        if was_named(estimate):
            return "it is of the configuration that was named beforehand"
        aggregate = str(estimate.provenance.get("aggregate"))
        pairs = (
            ("", self.metric, metric),
            ("aggregate ", None if self.aggregate == "auto" else self.aggregate, aggregate),
            ("rule ", self.selection, selection),
        )
        others = [(what, run, here) for what, run, here in pairs if run is not None and run != here]
        if others:
            run = ", ".join(f"{what}{value}" for what, value, _ in others)
            here = ", ".join(f"{what}{value}" for what, _, value in others)
            return f"the run selected by {run}, and the estimate by {here}"
        if Flag.OTHER_CONFIGURATION in estimate.flags:
            return f"method {estimate.method} selects on a part of the rows"
        return "the run selected by other scores than those of these predictions"
