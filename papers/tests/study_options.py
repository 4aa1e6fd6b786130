"""The options of a study as a user types them, for tests of what they become."""

from collections.abc import Sequence
from typing import Any

from heldout_papers.cli.options import StudyOption, StudyOptions


def typed_options(
    own: Sequence[StudyOption], *, quick: bool = True, folder: str = "", **typed: Any
) -> StudyOptions:
    """With the defaults of the other options."""
    values = {one.name: () if one.settings.get("multiple") else one.settings.get("default") for one in own}
    shared: dict[str, Any] = {
        "n_jobs": 1, "seed": 0, "out": "out", "resume": False, "as_json": False, "quiet": False, "folder": folder,
    }  # fmt: skip
    return StudyOptions(**shared, quick=quick, own=own, typed=values | typed)
