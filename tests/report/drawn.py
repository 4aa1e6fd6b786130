"""The elements of a picture, each with the look of its group."""

from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def elements(svg: str, tag: str) -> list[dict[str, str]]:
    """The attributes of all elements of a tag, those of their group among them; ``text`` is their text."""
    root = ElementTree.fromstring(svg)
    return [
        {**(parent.attrib if parent.tag == f"{SVG}g" else {}), **node.attrib, "text": node.text or ""}
        for parent in root.iter()
        for node in parent
        if node.tag == f"{SVG}{tag}"
    ]
