"""The page of a study of times: claims, a picture of each size that is varied, a table of all settings."""

from __future__ import annotations

from heldout._text import counted
from heldout.kernels.dispatch import KERNELS
from heldout_papers.engine.claims import claims_sentence
from heldout_papers.engine.page import StudyPage, StudyTable
from heldout_papers.engine.pictures import Frame, Line, Picture, PictureAxis, line_picture, line_summary
from heldout_papers.timing.claims import CODE_TITLES, PUBLISHED, timing_claims
from heldout_papers.timing.problem import PAIRS
from heldout_papers.timing.study import VARIED, TimingStudy

WAY_TITLES = {
    "bbc": "BBC, heldout",
    "bbc_f": "BBC-F, heldout",
    "plain_bbc": "BBC, plain",
    "plain_bbc_f": "BBC-F, plain",
}
WAYS_EXPLAINED = {
    "bbc": "heldout.estimate from the predictions, one thread, with its checks of the input",
    "bbc_f": "the same; the scores of the folds are computed from the predictions",
    "plain_bbc": "NumPy, as the article describes the method: one bootstrap after another, in each an AUC for "
    "every configuration. It stands for published code, and no other command uses it",
    "plain_bbc_f": "the same, on the scores of the folds",
}
KERNEL_SENTENCES = {
    "compiled": "heldout's BBC does not compute an AUC anew for each bootstrap and configuration: it sorts the "
    "rows once a configuration, and compiled code then walks through them for many bootstraps together.",
    "numpy": "heldout's compiled kernels were not in use: its NumPy kernels were timed.",
}


def timing_page(study: TimingStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    claims = timing_claims(study)
    first = study.settings[0]
    return StudyPage(
        name="timing",
        title="How long BBC and BBC-F take",
        lead=_lead(study),
        facts={what: ", ".join(f"{size:,}" for size in study.sizes(what)) for what in VARIED}
        | {
            "repetitions": f"{study.repetitions:,}",
            "bootstraps": f"{first.n_bootstraps:,}",
            "greatest standard error of a median": f"{100 * study.worst_error:.1f} %",
        },
        claims_sentence=claims_sentence(
            claims,
            "of section 5 that these settings can test",
            "; each is tested for heldout's code and for plain code, where both were timed",
            "BBC and BBC-F, numbers of rows and of configurations that differ tenfold at least, and of folds "
            "fivefold",
        ),
        claims=claims,
        pictures=tuple(_picture(study, what) for what in VARIED if len(study.sizes(what)) > 1),
        glossary={WAY_TITLES[name]: WAYS_EXPLAINED[name] for name in first.ways},
        tables=(_table(study),),
        method=_method(first.n_bootstraps),
        sources=("paraschakis2024", "tsamardinos2018"),
        entropy=study.entropy,
        command=command,
        with_machine=True,
    )


def _method(n_bootstraps: int) -> tuple[str, ...]:
    return (
        "Predictions are drawn whose true AUCs come from Be(24, 6), with half of the rows in each class, and the "
        "rows of each class are dealt to the folds in turn. All methods get the same predictions, one after "
        "another in one process; another method is first in each repetition, and each is called once before it is "
        "timed. The time is that from predictions to a lower 95 % bound with "
        f"{counted(n_bootstraps, 'bootstrap')}.",
        f"{KERNEL_SENTENCES[KERNELS]} BBC-F has little left to save there, and the checks of the input are a "
        "larger part of its time.",
        "Times are processor times, equal to wall time where one thread has an idle machine to itself; they are "
        "those of one machine on one day, and differ from run to run; kept batches keep theirs. Problems and "
        "bounds are the same for the same seed. The published times are medians from the files beside the "
        "published code, which calls a compiled AUC once for each bootstrap and configuration.",
    )


def _picture(study: TimingStudy, what: str) -> Picture:
    """Median seconds over the size that is varied, a line a way, with bars from quartile to quartile."""
    places, sizes = study.varied(what), study.sizes(what)
    lines = []
    for name in study.settings[0].ways:
        low, median, high = zip(*(study.quartiles(place, name) for place in places), strict=True)
        lines.append(Line(WAY_TITLES[name], sizes, median, low, high))
    centre = dict(zip(VARIED, study.centre, strict=True))
    others = " and ".join(f"{centre[name]:,} {name}" for name in VARIED if name != what)
    at = f"{sizes[0]:,}", f"{sizes[-1]:,} {what}"
    frame = Frame(
        PictureAxis(what, ",d", sizes, "log"), PictureAxis("seconds", "~g", scale="log"), f"timing-{what}"
    )
    return line_picture(
        f"By {what}", lines, frame,
        summary=line_summary("Median milliseconds", lines, at, lambda seconds: f"{1e3 * seconds:.3g}"),
        caption=f"Median seconds, with bars from the lower to the upper quartile, by {what}; {others}. Both axes "
        "are logarithmic, so that equal distances are equal factors.",
    )  # fmt: skip


def _pairs(study: TimingStudy) -> list[tuple[str, str]]:
    return [pair for pair in PAIRS if set(pair) <= set(study.settings[0].ways)]


def _table(study: TimingStudy) -> StudyTable:
    """Median milliseconds of every setting, and the ratios of BBC to BBC-F, ours and published."""
    ways, pairs = study.settings[0].ways, _pairs(study)
    body = []
    for place, setting in enumerate(study.settings):
        size = (setting.rows, setting.configurations, setting.folds)
        medians = {name: study.median(place, name) for name in ways}
        published = PUBLISHED.get(size)
        body.append(
            (
                f"N = {size[0]:,}, C = {size[1]}, K = {size[2]}",
                *(f"{1e3 * medians[name]:.3g}" for name in ways),
                *(f"{medians[first] / medians[second]:.3g}" for first, second in pairs),
                f"{published[0] / published[1]:.3g}" if published else "",
                f"{setting.rows / setting.folds:.3g}",
            )
        )
    ratios = [f"BBC / BBC-F, {CODE_TITLES[pair[0]]}" for pair in pairs]
    head = ("", *(WAY_TITLES[name] for name in ways), *ratios, "BBC / BBC-F, published", "N/K")
    return StudyTable("Median milliseconds, and the time of BBC by that of BBC-F", head, tuple(body))


def _lead(study: TimingStudy) -> str:
    """The ratio of BBC to BBC-F at the centre, or at the first setting where the centre was not timed."""
    sizes = [(setting.rows, setting.configurations, setting.folds) for setting in study.settings]
    place = sizes.index(study.centre) if study.centre in sizes else 0
    n, c, k = sizes[place]
    size = f"{counted(n, 'row')}, {counted(c, 'configuration')} and {counted(k, 'fold')}"
    ratios = [
        f"{study.median(place, pair[0]) / study.median(place, pair[1]):.3g} times by {CODE_TITLES[pair[0]]}"
        for pair in _pairs(study)
    ]
    if ratios:
        return f"With {size}, BBC takes {' and '.join(ratios)} as long as BBC-F."
    ways = study.settings[0].ways
    times = ", ".join(f"{WAY_TITLES[name]} takes {1e3 * study.median(place, name):.3g} ms" for name in ways)
    return f"With {size}, {times}."
