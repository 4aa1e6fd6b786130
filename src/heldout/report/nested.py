"""The outer folds of nested cross-validation: the winners that they selected, and their scores."""

from __future__ import annotations

import numpy as np

from heldout._text import number_text
from heldout.estimates.types import Estimate
from heldout.protocols.nested.estimate import (
    ALONE,
    NestedEstimate,
    agreement_sentence,
    inner_against_outer_sentence,
    outer_folds_sentence,
)
from heldout.report.entries import Facts
from heldout.scales import Scale

MOST_CHOSEN = 10


def outer_of(estimate: Estimate | None, scale: Scale) -> Facts | None:
    """The outer folds of an estimate; None if it has none."""
    if not isinstance(estimate, NestedEstimate):
        return None
    folds, agreement = estimate.outer_folds, estimate.agreement
    n_repeats = len({fold.repeat for fold in folds})
    one_for_all = estimate.provenance.get("across") == "all"
    is_alone = len(folds[0].inner_scores) == 1
    chosen = [
        Facts(
            name=agreement.names[j],
            wins=wins,
            share=wins / sum(agreement.wins.values()),
            is_deployed=j == estimate.selected,
        )
        for j, wins in agreement.wins.items()
    ]
    rows = tuple(
        Facts(
            place=f"{fold.fold + 1}" + (f" of repeat {fold.repeat + 1}" if n_repeats > 1 else ""),
            rows=len(fold.test_rows),
            winner=fold.tested_name,
            inner=scale.shown(fold.inner_score),
            outer=scale.shown(fold.score),
        )
        for fold in folds
    )
    return Facts(
        how=outer_folds_sentence(len(folds), n_repeats, one_for_all=one_for_all, is_alone=is_alone),
        chosen=tuple(chosen[:MOST_CHOSEN]),
        unnamed=max(len(chosen) - MOST_CHOSEN, 0),
        agreement=ALONE
        if is_alone
        else agreement_sentence(
            agreement.share,
            len(chosen),
            len(folds),
            is_deployed=bool(chosen) and chosen[0].is_deployed,
            one_for_all=one_for_all,
        ),
        folds=rows,
        means=_means(rows, scale, one_for_all=one_for_all),
        inner_means=_inner_means(estimate, scale) if one_for_all else (),
        inner_means_more=max(len(estimate.names) - MOST_CHOSEN, 0) if one_for_all else 0,
    )


def _inner_means(estimate: NestedEstimate, scale: Scale) -> tuple[Facts, ...]:
    means = estimate.mean_inner_scores
    return tuple(
        Facts(name=estimate.names[j], mean=scale.shown(float(means[j])), is_deployed=j == estimate.selected)
        for j in estimate.ranked[:MOST_CHOSEN]
    )


def _means(rows: tuple[Facts, ...], scale: Scale, *, one_for_all: bool) -> str:
    inner = [row.inner for row in rows if row.inner is not None]
    outer = [row.outer for row in rows if row.outer is not None]
    if not inner or not outer:
        return ""
    texts = [number_text(float(np.mean(scores)), scale.decimals) for scores in (inner, outer)]
    return inner_against_outer_sentence(scale.title, *texts, one_for_all=one_for_all)
