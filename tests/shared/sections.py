"""Files of texts in sections, which tests compare with what is said now, or write anew by HELDOUT_RENEW."""

import os
import re
from collections.abc import Iterable
from pathlib import Path


def sections_in(file: Path) -> dict[str, str]:
    """The texts of a file by the headings above them, lines that begin with ``# ``."""
    return dict(re.findall(r"^# (.*)\n((?:(?!# ).*\n)*)", file.read_text(encoding="utf-8"), flags=re.MULTILINE))


def renew(file: Path, sections: dict[str, str], order: Iterable[str], name: str, said: str) -> None:
    """Where HELDOUT_RENEW is set, write what is said now into the sections and the file."""
    if os.environ.get("HELDOUT_RENEW"):
        sections[name] = f"{said.strip()}\n"
        texts = (f"# {each}\n{sections[each].strip()}\n" for each in order if each in sections)
        file.write_text("\n".join(texts), encoding="utf-8")
