"""The page of a study of times: claims, a picture of each size that is varied, a table of all settings."""

from collections.abc import Sequence

from heldout._text import counted
from heldout.kernels.dispatch import KERNELS
from heldout_papers.engine.page import ClaimsText, StudyPage, StudyTable, study_tables
from heldout_papers.engine.pictures import Frame, Line, Picture, PictureAxis, line_picture, line_summary
from heldout_papers.timing.claims import CODE_TITLES, PUBLISHED, timing_claims
from heldout_papers.timing.operations import LINEAR, SORTED, operations_of, predicted_growth
from heldout_papers.timing.problem import PAIRS, TERMS, TimingSetting
from heldout_papers.timing.study import VARIED, TimingStudy

KERNEL_SENTENCES = {
    "compiled": "heldout's BBC does not compute an AUC anew for each bootstrap and configuration: it sorts the "
    "rows once a configuration, and compiled code then walks through them for many bootstraps together.",
    "numpy": "heldout's compiled kernels were not in use: its NumPy kernels were timed.",
}


def timing_page(study: TimingStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    first = study.settings[0]
    return StudyPage(
        name=study.name,
        title="How long BBC and BBC-F take",
        lead=_lead(study),
        settings={what: study.sizes(what) for what in VARIED}
        | {
            "repetitions": study.repetitions,
            "bootstraps": first.n_bootstraps,
            "greatest standard error of a median": f"{100 * study.worst_error:.1f} %",
        },
        claims=timing_claims(study),
        tested=ClaimsText(
            "of section 5 that these settings can test",
            "BBC and BBC-F, numbers of rows and of configurations that differ tenfold at least, and of folds "
            "fivefold",
            "; each is tested for heldout's code and for plain code, where both were timed",
        ),
        pictures=tuple(_picture(study, what) for what in VARIED if len(study.sizes(what)) > 1),
        glossary=dict(TERMS[name] for name in first.ways),
        tables=_tables(study),
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
        "Operations are counted as in section 2: with a metric that takes time linear in the rows, BBC needs "
        f"{LINEAR['bbc'].formula} of them and BBC-F {LINEAR['bbc_f'].formula}, the second term to score the folds. "
        f"The AUC sorts the rows: {SORTED['bbc'].formula} and {SORTED['bbc_f'].formula}. Their lines "
        "go through the median of plain code at the smallest size (of heldout's where that alone was timed).",
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
        lines.append(Line(TERMS[name].title, sizes, median, low, high))
    lines += _counted_lines(study, places, sizes)
    centre = dict(zip(VARIED, study.centre, strict=True))
    others = " and ".join(f"{centre[name]:,} {name}" for name in VARIED if name != what)
    at = f"{sizes[0]:,}", f"{sizes[-1]:,} {what}"
    frame = Frame(
        PictureAxis(what, ",.0f", sizes, "log"), PictureAxis("seconds", "g", scale="log"), f"timing-{what}"
    )
    return line_picture(
        f"By {what}", lines, frame,
        summary=line_summary("Median milliseconds", lines, at, lambda seconds: f"{1e3 * seconds:.3g}"),
        caption=f"Median seconds, with bars from the lower to the upper quartile, by {what}; {others}. Both axes "
        "are logarithmic, so that equal distances are equal factors.",
    )  # fmt: skip


def _counted_lines(study: TimingStudy, places: Sequence[int], sizes: Sequence[int]) -> list[Line]:
    """What counting operations has for BBC and for BBC-F, through the first median of the plain code if timed."""
    ways, lines = study.settings[0].ways, []
    for method in SORTED:
        way = next((name for name in (f"plain_{method}", method) if name in ways), None)
        if way is not None:
            first = study.median(places[0], way)
            growth = [predicted_growth(way, study.settings[place], study.settings[places[0]]) for place in places]
            lines.append(Line(SORTED[method].formula, sizes, [first * factor for factor in growth]))
    return lines


def _ratios(study: TimingStudy, place: int) -> dict[str, str]:
    """The time of BBC by that of BBC-F in a setting, by whose code they are."""
    pairs = [pair for pair in PAIRS if set(pair) <= set(study.settings[0].ways)]
    return {
        CODE_TITLES[pair[0]]: f"{study.median(place, pair[0]) / study.median(place, pair[1]):.3g}" for pair in pairs
    }


def _milliseconds(study: TimingStudy, place: int) -> dict[str, str]:
    return {TERMS[name].title: f"{1e3 * study.median(place, name):.3g}" for name in study.settings[0].ways}


def _tables(study: TimingStudy) -> list[StudyTable]:
    """Median milliseconds of every setting with the ratios of BBC to BBC-F, and how they grow with the sizes."""
    rows = []
    for place, setting in enumerate(study.settings):
        published = PUBLISHED.get((setting.rows, setting.configurations, setting.folds))
        cells = {
            **_milliseconds(study, place),
            **{f"BBC / BBC-F, {code}": ratio for code, ratio in _ratios(study, place).items()},
            "BBC / BBC-F, published": f"{published[0] / published[1]:.3g}" if published else "",
            "N/K": f"{setting.rows / setting.folds:.3g}",
        }
        rows.append((_size_text(setting), cells))
    return [
        *study_tables("Median milliseconds, and the time of BBC by that of BBC-F", rows),
        *study_tables(
            f"Growth of the time, and of the operations in brackets, from {_size_text(_base(study))}",
            [(_size_text(setting), _growth(study, place)) for place, setting in enumerate(study.settings)],
        ),
    ]


def _size_text(setting: TimingSetting) -> str:
    return f"N = {setting.rows:,}, C = {setting.configurations}, K = {setting.folds}"


def _base(study: TimingStudy) -> TimingSetting:
    """The setting around which one size is varied; the first where that was not timed."""
    sizes = [(setting.rows, setting.configurations, setting.folds) for setting in study.settings]
    return study.settings[sizes.index(study.centre) if study.centre in sizes else 0]


def _growth(study: TimingStudy, place: int) -> dict[str, str]:
    """How many times as long each way takes as at the base, and how many times as many operations it counts."""
    base = _base(study)
    start, cells = study.settings.index(base), {}
    for way in base.ways:
        time = study.median(place, way) / study.median(start, way)
        operations = predicted_growth(way, study.settings[place], base)
        cells[f"{TERMS[way].title}, {operations_of(way).formula}"] = f"{time:.3g} ({operations:.3g})"
    return cells


def _lead(study: TimingStudy) -> str:
    """The ratio of BBC to BBC-F at the centre, or at the first setting where the centre was not timed."""
    base = _base(study)
    place = study.settings.index(base)
    n, c, k = base.rows, base.configurations, base.folds
    size = f"{counted(n, 'row')}, {counted(c, 'configuration')} and {counted(k, 'fold')}"
    ratios = [f"{ratio} times by {code}" for code, ratio in _ratios(study, place).items()]
    if ratios:
        return f"With {size}, BBC takes {' and '.join(ratios)} as long as BBC-F."
    times = ", ".join(f"{title} takes {time} ms" for title, time in _milliseconds(study, place).items())
    return f"With {size}, {times}."
