"""The tree of objects in a file of R, by rdata's parser, with a value that it does not know.

Models hold functions, and functions refer to the namespace of R itself, which is written as the type 250 without
content. That is common in objects of caret and tidymodels. Nothing that is read refers to it, so it is parsed as
NULL. Source: the manual "R Internals", section 1.8, and ``serialize.c`` of R.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rdata.parser import RData

_BASE_NAMESPACE = b"\x00\x00\x00\xfa"
_UNPACK: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}
"""By the first bytes of the file."""
_OF_SAVE = (b"RDX2\n", b"RDX3\n")
_XDR = b"X\n"


def r_tree(path: Path) -> RData:
    """The parsed content of a file of ``saveRDS`` or ``save``.

    Raises whatever the parser raises where the file is damaged, ``ImportError`` where rdata is not installed.
    """
    from rdata.parser import parse_file

    content = path.read_bytes()
    for start, unpack in _UNPACK.items():
        if content.startswith(start):
            content = unpack(content)
    for start in _OF_SAVE:
        content = content.removeprefix(start)
    if not content.startswith(_XDR):  # R writes other encodings only when asked to
        return parse_file(path)
    parser = _parser(memoryview(content.removeprefix(_XDR)))
    tree: RData = parser.parse_all()
    parser.check_complete()
    return tree


def _parser(content: memoryview) -> Any:
    from rdata.parser import DEFAULT_ALTREP_MAP, RObject, RObjectInfo, RObjectType
    from rdata.parser._xdr import ParserXDR

    class WithBaseNamespace(ParserXDR):
        """Reads the base namespace as NULL."""

        def parse_R_object(self, *others: Any, **named: Any) -> RObject:  # noqa: N802
            place = self.file.tell()
            if named.get("info_int") is None and len(others) < 3 and self.file.read(4) == _BASE_NAMESPACE:
                return RObject(RObjectInfo(RObjectType.NILVALUE, False, False, False, 0, 0), None, None)
            self.file.seek(place)
            return super().parse_R_object(*others, **named)

    return WithBaseNamespace(content, expand_altrep=True, altrep_constructor_dict=DEFAULT_ALTREP_MAP)
