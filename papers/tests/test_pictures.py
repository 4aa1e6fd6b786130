"""Pictures and tables of studies' pages: what a reader sees at the ticks, and which columns wrap."""

import itertools
import re

import pytest

from heldout_papers.engine.claims import Claim
from heldout_papers.engine.page import ClaimsText, StudyPage, render_study
from heldout_papers.engine.pictures import Frame, Line, Mark, Picture, PictureAxis, line_picture, mark_picture


def texts(picture: Picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]+)</text>", picture.svg)


@pytest.mark.parametrize("top", [0.07, 0.1, 0.12, 0.2])
def test_the_texts_at_the_ticks_are_equally_far_apart(top: float) -> None:
    frame = Frame(PictureAxis("rows"), PictureAxis("bias", "+.2f"), "bias")
    picture = line_picture("Bias", [Line("bbc", [1, 2], [-top / 3, top])], frame, summary="", caption="")

    ticks = [float(text.replace("−", "-")) for text in texts(picture) if re.fullmatch(r"[+−]\d\.\d\d", text)]
    steps = {round(after - before, 2) for before, after in itertools.pairwise(ticks)}

    assert len(ticks) >= 3
    assert len(steps) == 1


def test_the_diagonal_takes_no_room_and_roots_begin_at_0() -> None:
    axes = [PictureAxis(title, scale="sqrt", ends=(0.0, 0.05)) for title in ("threshold", "gain")]
    marks = [Mark(0.01, 0.0, False), Mark(0.02, 0.04, True)]
    frame = Frame(axes[0], axes[1], "gain", has_diagonal=True)
    picture = mark_picture("Gain", marks, frame, shape="^", summary="", caption="")

    ticks = [float(text) for text in texts(picture) if re.fullmatch(r"[−\d.]+", text)]

    assert min(ticks) == 0 and max(ticks) < 0.1


def test_what_is_published_wraps_as_what_we_found() -> None:
    """In one line it would leave a word's width for the other columns."""
    claim = Claim(
        text="Some fail to run.",
        published="all with N = 50; none with N = 500",
        ours="45 %",
        difference="",
        holds=True,
    )
    page = StudyPage(
        name="intervals", title="Intervals", lead="They hold.", settings={}, claims=(claim,),
        tested=ClaimsText("of section 5", "more rows"), pictures=(), glossary={}, tables=(), method=(), sources=(),
        entropy=1,
    )  # fmt: skip

    (row,) = re.findall(r"<tbody.*?</tbody>", render_study(page), flags=re.S)

    assert [kind for kind, _ in re.findall(r'<td role="cell" class="(\w+)" data-label="(\w+)"', row)] == [
        "text"
    ] * 3
