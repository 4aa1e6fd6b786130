"""Check the links of a built site without a network: files and anchors exist, and pictures have a text.

``python .ci/site_links.py FOLDER``
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links, the anchors and the pictures without a text of one page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.mute: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [value for name in ("href", "src") if (value := values.get(name))]
        self.anchors |= {value for name in ("id", "name") if (value := values.get(name))}
        is_thumbnail = "_thumb." in (values.get("src") or "")  # its title stands below it
        if tag == "img" and not values.get("alt") and not is_thumbnail:
            self.mute.append(values.get("src") or "")


def faults(site: Path) -> list[str]:
    """One line for each link that leads nowhere."""
    files = (file for file in sorted(site.rglob("*.html")) if not {"_static", "_modules"} & set(file.parts))
    pages = {file: Page(file) for file in files}  # not templates of the theme, nor sources that viewcode links
    found = []
    for file, page in pages.items():
        found += [f"{file.relative_to(site)}: no text for the picture {picture}" for picture in page.mute]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists():
                found.append(f"{file.relative_to(site)}: {link} is not there")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{file.relative_to(site)}: {link} has no such place")
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    lines = faults(folder)
    print("\n".join(lines), file=sys.stderr)
    print(f"{len(list(folder.rglob('*.html')))} pages, {len(lines)} links that lead nowhere")
    sys.exit(bool(lines))
