"""``heldout study``: the experiments of the literature, on its settings or on yours. One file a study."""

import click

from heldout.cli.group import LazyGroup

STUDIES = {
    "adaptive": "heldout_papers.cli.adaptive",
    "bias": "heldout_papers.cli.bias",
    "corrections": "heldout_papers.cli.corrections",
    "flat-vs-nested": "heldout_papers.cli.flat_vs_nested",
    "intervals": "heldout_papers.cli.intervals",
    "intervals-on-tables": "heldout_papers.cli.intervals_on_tables",
    "search": "heldout_papers.cli.search",
    "timing": "heldout_papers.cli.timing",
}


@click.group(
    name="study",
    cls=LazyGroup,
    modules=STUDIES,
    nouns=("study", "studies"),
    short_help="Repeat an experiment of the literature, on its settings or on yours.",
)
def command() -> None:
    """Repeat an experiment of the literature, on its settings or on yours.

    \b
    heldout study bias --quick
    heldout study bias --rows 40,200 --configurations 30 --folds 5 --beta 24,6
    """
