"""scikit-learn's callbacks (new in 1.9), called for a search as ``GridSearchCV`` calls them.

The tree of tasks is fit > search > one task per fit, and fit > refit. Callbacks run in the coordinating process
when a result arrives, so they are not passed on to the estimators that workers fit, and every task is told what the
fit of the search was given, of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.execution import events
from heldout.execution.cells import CellTable


class SklearnCallbacks:
    """A listener that passes events on to the callbacks of ``set_callbacks``; the search has its mixin."""

    def __init__(self, search: Any, refits: bool, X: Any, y: Any, metadata: Mapping[str, Any]) -> None:
        self._search = search
        self._given = {"estimator": search, "X": X, "y": y, "metadata": dict(metadata)}
        self._refits = refits
        self._open: list[Any] = []
        self._finished = 0
        self._has_callbacks = True

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.SearchStarted():
                root = self._search._init_callback_context(max_subtasks=1 + self._refits)
                # A search without callbacks need not report thousands of fits.
                self._has_callbacks = bool(getattr(root, "_callbacks", True))
                self._open = [root.call_on_fit_task_begin(**self._given)]
                self._begin("search", max_subtasks=event.n_cells, sequential_subtasks=False)
                self._finished = event.n_resumed
            case events.CellFinished(result):
                n_fits = len(result) if isinstance(result, CellTable) else 1
                for _ in range(n_fits if self._has_callbacks else 0):
                    self._begin("candidate-split-evaluation", task_id=self._finished)
                    self._end()
                    self._finished += 1
            case events.FitsAdded():  # scikit-learn's searches have no such fits
                self._has_callbacks = False
            case events.StageStarted(stage="estimate" | "fold models"):
                self._close_search()
            case events.StageStarted(stage="refit"):
                self._close_search()
                self._begin("refit-with-best-params")
            case events.SearchFinished():
                while self._open:
                    self._end()

    def _begin(self, name: str, **settings: Any) -> None:
        context = self._open[-1].subcontext(task_name=name, **settings)
        self._open.append(context.call_on_fit_task_begin(**self._given))

    def _end(self) -> None:
        self._open.pop().call_on_fit_task_end(**self._given)

    def _close_search(self) -> None:
        if len(self._open) > 1:
            self._end()
