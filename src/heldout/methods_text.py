"""A paragraph for the methods section of an article, in the forms that a manuscript needs."""

import html
from dataclasses import dataclass

from heldout._registry import function_of
from heldout._text import markdown_text


@dataclass(frozen=True)
class MethodsText:
    r"""What was done, as a paragraph for an article. ``print`` shows it as plain text.

    Attributes
    ----------
    text : str
        Plain text, with authors and years.
    latex : str
        LaTeX, with ``\citep`` of natbib; the keys are those of ``bibtex``.
    markdown : str
        Markdown, with sources as pandoc, Quarto and R Markdown cite them: ``[@tsamardinos2018]``.
    keys : tuple of str
        The keys of the cited works, in the order in which they are cited.
    bibtex : str
        The cited works as BibTeX entries.
    """

    text: str
    latex: str
    markdown: str
    keys: tuple[str, ...]
    bibtex: str

    def to_markdown(self) -> str:
        """The paragraph and the entries as a Markdown document, which ``heldout tune`` writes as methods.md."""
        entries = f"\n\n```bibtex\n{self.bibtex}\n```" if self.keys else ""
        return f"{markdown_text(self.text)}{entries}\n"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        entries = f"<pre>{html.escape(self.bibtex)}</pre>" if self.keys else ""
        return f"<p>{html.escape(self.text)}</p>{entries}"


class WithMethodsText:
    """A result that can say what was done."""

    def methods_text(self) -> MethodsText:
        """What was done, as a paragraph for the methods section of an article, every number from this result.

        Returns
        -------
        MethodsText
            ``print`` shows the paragraph; ``.latex`` and ``.markdown`` cite by key, ``.bibtex`` has the entries.
        """
        written: MethodsText = function_of("methods text")(self)
        return written
