"""Odd values that the generators share: text, numbers, JSON, and changes of a JSON document."""

import copy
from typing import Any

import numpy as np

Generator = np.random.Generator

TEXTS = (
    "", " ", "a", "y", "None", "nan", "inf", "-1", "0", "1e400", "a,b", "a;b", 'a"b', "a'b", "a\tb", "x" * 300, "é",
    "Ω≤✓", "\u202e", "\x1b[31mred\x1b[0m", "a[0]", "a[b][c]", "[]", "{}", "../up", "-", "--json", "%s", "{0}", "\\",
    "true", "0x10", "1_000", "２", "best(", "within(tolerance=nan)", "within(tolerance=0.01)", "top_k(k=-1)",
    "f(f(f(1)))", "__import__('os')",
)  # fmt: skip
NUMBERS = (
    0, -0.0, 1, -1, 2, 3, 7, 0.5, -0.5, 1.5, 1e-300, 5e-324, 1e308, -1e308, 1e19, 2**31, 2**53 + 1, 2**63, -(2**63),
    2**64, 10**12, 10**30, float("nan"), float("inf"), -float("inf"), 0.1 + 0.2, 100, True, False,
)  # fmt: skip
JSON = (
    None, True, False, 0, 1, -1, 2**70, 1.5, -1e308, "", "x", "nan", [], [[]], {}, {"a": None}, [1, "a", None],
    "\ud800", [0] * 50, "x" * 1000,
)  # fmt: skip


def pick(rng: Generator, options: Any) -> Any:
    """One of a sequence, as it stands there."""
    return options[int(rng.integers(len(options)))]


def some(rng: Generator, options: Any, least: int, most: int) -> list[Any]:
    """Several distinct ones of a sequence."""
    n = int(rng.integers(least, min(most, len(options)) + 1))
    return [options[i] for i in rng.permutation(len(options))[:n]]


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON document, the root's first."""
    found = [path]
    if isinstance(document, dict):
        for key in document:
            found += places(document[key], (*path, key))
    elif isinstance(document, list):
        for index in range(min(len(document), 5)):
            found += places(document[index], (*path, index))
    return found


def changed(rng: Generator, document: Any) -> tuple[Any, str]:
    """A JSON document with something replaced, left out, repeated or nested, and what that was."""
    whole = copy.deepcopy(document)
    path = pick(rng, places(whole))
    act = pick(rng, ("replace", "replace", "remove", "repeat", "nest"))
    if not path:
        new = pick(rng, JSON)
        return new, f"the document became {new!r:.60}"
    parent = whole
    for step in path[:-1]:
        parent = parent[step]
    last, where = path[-1], "/".join(map(str, path))
    if act == "remove":
        del parent[last]
        return whole, f"{where} removed"
    if act == "repeat" and isinstance(parent, list):
        parent.insert(last, parent[last])
        return whole, f"{where} repeated"
    if act == "nest":
        parent[last] = [parent[last]]
        return whole, f"{where} put into a list"
    parent[last] = pick(rng, JSON)
    return whole, f"{where} became {parent[last]!r:.60}"


def damaged(rng: Generator, content: bytes) -> tuple[bytes, str]:
    """Bytes with some flipped, cut, left out, doubled or overwritten, and what that was."""
    n = len(content)
    act = pick(rng, ("flip", "flip", "cut", "remove", "double", "zero", "noise"))
    where = int(rng.integers(max(n, 1)))
    size = int(min(rng.integers(1, 200), n - where)) if n else 0
    if act == "cut":
        return content[:where], f"cut at byte {where} of {n}"
    if act == "flip":
        changed = bytearray(content)
        bits = [int(bit) for bit in rng.integers(0, max(8 * n, 1), size=int(rng.integers(1, 4)))] if n else []
        for bit in bits:
            changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed), f"bits {bits} flipped of {n} bytes"
    new = {
        "remove": b"",
        "double": content[where : where + size] * 2,
        "zero": bytes(size),
        "noise": rng.bytes(size),
    }[act]
    return content[:where] + new + content[where + size :], f"{act} of {size} bytes at {where} of {n}"
