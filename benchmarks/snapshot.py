"""A snapshot of some 600 calls: what changes when code moves.

    python benchmarks/snapshot.py write FILE       # before
    python benchmarks/snapshot.py compare FILE     # after; --only search/drop for a part

The calls are in ``snapshot_calls.py``. They use public names and the commands only, so that they run unchanged
before and after any move. Results are compared in three lists: equal in bits (numbers, winners, names of flags,
types of errors), equal to 1e-12 (shared fits of support vector machines), and texts (sentences, help, JSON
documents). A difference in the first two is a fault (exit code 1); in the third it needs a reason. Times,
versions, paths, dates and memory are left out. A FILE belongs to one type of machine and one set of packages.
"""

import argparse
import enum
import hashlib
import json
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy is imported
os.environ["COLUMNS"] = "80"  # of the help of commands

import numpy as np
from snapshot_calls import EXPORTS, SECTIONS

import heldout as ho

BITS, CLOSE, TEXTS = "equal in bits", "equal to 1e-12", "texts"
LONG = 200
"""Characters of a text that are kept; of a longer one its hash and its beginning."""
MANY = 30
"""Items of a sequence that are compared one by one."""
Leaves = dict[str, Any]

VOLATILE = (
    r"(\w+_)?(seconds|seconds_left|seconds_spent|versions?|started|ended|date|path|memory|fit_time|score_time|kernels"
    r"|created|opened|acknowledged|n_bytes|cells_per_second|owner)"
)
"""Names whose values differ from run to run."""
SCRUBBED = {
    rf'"{VOLATILE}": (\{{[^}}]*\}}|"[^"]*"|[^,}}\]]*)': "VOLATILE",
    r"\b(heldout|scikit-learn|[Nn]um[Pp]y|[Pp]ython|pandas|[Oo]ptuna|skops)(==| |/)v?\d[\w.]*": r"\1 VERSION",
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?[\d.+:]*)?": "DATE",
    r"\b\d+(\.\d+)? fits a second": "RATE",
    r"\b((about|at least|less than) )?\d+(\.\d+)? ?(ms|s|min|h|seconds?|minutes?|hours?|[kMG]i?B)\b": "AMOUNT",
    r" at 0x\w+": "",
}
NAMES = r"(^|/)(selected_name|best_params_?|names?|metric|method|flags?|raises|code|configurations?|keys)$"
"""Paths whose texts are compared as numbers are."""
OF_SEARCHES = (
    "cv_results_ best_index_ best_score_ best_params_ n_splits_ n_fits_ n_fits_saved_ n_fits_shared_ estimates_"
    " predictions_"
)
ATTRIBUTES = {
    "Estimate": "value interval uncorrected optimism standard_error constant coverage selected selected_name metric"
    " method n_rows_used distribution selection_frequency flags provenance",
    "Coverage": "share standard_error cell",
    "NestedEstimate": "outer_folds agreement n_fits n_fits_saved",
    "OuterFold": "repeat fold selected tested inner_scores score scores training_rows test_rows failures",
    "SearchBootstrapEstimate": "scheme bootstraps n_fits n_fits_saved",
    "SearchBootstrap": "selected in_bag_score out_of_bag_score scores drawn left_out reason",
    "Validation": "estimates rows method selected selected_name coefficients selection_frequency failures n_fits",
    "LearningCurve": "sizes mean standard_error estimate n_fits",
    "HeldOutSearchCV": OF_SEARCHES,
    "HeldOutRandomizedSearchCV": OF_SEARCHES,
    "HeldOutOptunaSearchCV": OF_SEARCHES,
    "HeldOutPredictions": "responses names folds classes positive failed dropped training_rows times flags",
}
"""What is compared of a class and its subclasses; of other classes ``to_dict()``."""


class Record:
    """The leaves of one result, by path, in the three lists."""

    def __init__(self, floats: str) -> None:
        self.floats = floats
        self.lists: dict[str, Leaves] = {BITS: {}, CLOSE: {}, TEXTS: {}}

    def add(self, path: str, value: Any) -> None:
        if isinstance(value, enum.Enum):
            value = value.value
        if isinstance(value, str):
            self.lists[BITS if re.search(NAMES, path) else TEXTS][path] = shortened(scrubbed(value))
        elif isinstance(value, float | np.floating):
            self.array(path, np.asarray(value))
        elif value is None or isinstance(value, int | np.bool_ | np.integer):
            self.lists[BITS][path] = str(value)
        elif isinstance(value, Mapping):
            self.mapping(path, value)
        elif isinstance(value, list | tuple):
            self.sequence(path, value)
        elif isinstance(value, np.ndarray):
            self.array(path, value)
        elif hasattr(value, "iloc"):  # a table of pandas
            self.mapping(path, value.to_dict("list"))
        else:
            self.instance(path, value)

    def mapping(self, path: str, value: Mapping[Any, Any]) -> None:
        value = {str(getattr(key, "value", key)): item for key, item in value.items()}
        value = {key: item for key, item in value.items() if not re.fullmatch(VOLATILE, key)}
        if path.endswith("/flags"):
            self.lists[BITS][path] = " ".join(sorted(value))
            path = f"{path}/sentences"
        if splits := [key for key in value if re.match(r"split\d+_", key)]:  # of cv_results_
            self.array(f"{path}/splits", np.stack([value.pop(key) for key in splits]))
        if path.endswith("/provenance"):  # numbers and texts in one leaf each, which is shorter
            numbers = [key for key, item in value.items() if isinstance(item, int | float | np.number)]
            self.lists[BITS][path] = " ".join(f"{key}={value.pop(key)}" for key in numbers)
            texts = [key for key, item in value.items() if isinstance(item, str)]
            self.add(f"{path}/texts", "; ".join(f"{key}: {value.pop(key)}" for key in texts))
        for key, item in value.items():
            self.add(f"{path}/{key}", item)

    def sequence(self, path: str, value: Any) -> None:
        numbers = [math.nan if item is None else item for item in value]
        if value and all(isinstance(item, int | float | np.number) for item in numbers):
            self.array(path, np.asarray(numbers))
        elif value and all(isinstance(item, str) for item in value):
            self.add(path, ", ".join(value))
        elif len(value) > MANY:  # points of curves and the like
            self.lists[BITS][path] = shortened(scrubbed(json.dumps(value, default=repr)))
        else:
            self.mapping(path, {"n": len(value)} | dict(enumerate(value)))

    def array(self, path: str, value: Any) -> None:
        numbers = value.ravel().tolist()
        if isinstance(value, np.ma.MaskedArray) or value.dtype.kind in "OUS":
            self.sequence(
                path, [item if isinstance(item, str | int | float | None) else repr(item) for item in numbers]
            )
        elif value.dtype.kind == "f" and self.floats == CLOSE:
            self.lists[CLOSE][path] = numbers
        elif value.size < 3:
            self.lists[BITS][path] = " ".join(map(repr, numbers))
        else:
            bits = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:12]
            self.lists[BITS][path] = f"{value.shape} {numbers[0]!r} {numbers[1]!r} ... {bits}"

    def instance(self, path: str, value: Any) -> None:
        """Something of the library, of scikit-learn or of the user."""
        names = [name for kind in type(value).__mro__ for name in ATTRIBUTES.get(kind.__name__, "").split()]
        if names:
            self.mapping(path, {name: getattr(value, name) for name in names if hasattr(value, name)})
        elif hasattr(value, "to_dict"):
            self.mapping(path, value.to_dict())
        elif hasattr(value, "get_params") or callable(value):
            self.add(path, repr(value))
        else:
            raise TypeError(f"{path}: nothing says what to compare of a {type(value).__name__}")
        if path == "" and any("__str__" in vars(kind) for kind in type(value).__mro__[:-1]):
            self.add("/str", str(value))
        if path == "" and hasattr(value, "methods_text"):
            self.add("/methods_text", str(value.methods_text()))


def scrubbed(text: str) -> str:
    """A text without what differs from run to run."""
    text = text.replace(str(EXPORTS), "EXPORTS")
    text = re.sub(
        r"\{('[^{}]*')\}", lambda names: ", ".join(sorted(names[1].split(", "))), text
    )  # a set, in any order
    for pattern, word in SCRUBBED.items():
        text = re.sub(pattern, word, text)
    return text


def shortened(text: str) -> str:
    """A text, or the hash and the beginning of a long one."""
    if len(text) <= LONG:
        return text
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]} of {len(text)} characters: {text[:60]}"


def recorded(call: Callable[[], Any], floats: str) -> dict[str, Leaves]:
    """What a call returns or raises, and its warnings."""
    record = Record(floats)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            kinds = [kind for kind in type(error).__mro__ if hasattr(ho, kind.__name__)] or [type(error)]
            of = getattr(error, "argument", None) or ""
            result = {"raises": kinds[0].__name__, "sentence": str(error), "argument": of}
        record.add("", result)
    if sentences := [str(one.message) for one in caught if issubclass(one.category, ho.HeldoutWarning)]:
        record.add("/warnings", sentences)
    return record.lists


def snapshot(only: str) -> dict[str, dict[str, Leaves]]:
    """The leaves of the calls whose names begin with ``only``, in three lists."""
    lists: dict[str, dict[str, Leaves]] = {BITS: {}, CLOSE: {}, TEXTS: {}}
    for section, cases in SECTIONS.items():
        if not (section.startswith(only) or only.startswith(section)):
            continue
        start, names = time.process_time(), set()
        for case, call in cases():
            name = f"{section}/{case}"
            if name.startswith(only):
                assert name not in names, f"two calls are named {name}"
                names.add(name)
                for kind, leaves in recorded(call, CLOSE if section == "shared" else BITS).items():
                    lists[kind].update({name: leaves} if leaves else {})
        print(f"{section}: {len(names)} calls, {time.process_time() - start:.1f} s", file=sys.stderr)
    return lists


def differences(old: Leaves, new: Leaves) -> list[str]:
    """The paths at which two records of a call differ, with both values."""
    pairs = {path: (old.get(path, "nothing"), new.get(path, "nothing")) for path in dict.fromkeys([*old, *new])}
    return [
        f"    {path}: {first} -> {second}"
        for path, (first, second) in pairs.items()
        if not are_equal(first, second)
    ]


def are_equal(old: Any, new: Any) -> bool:
    """Whether two leaves are equal, lists of numbers to 1e-12."""
    if not (isinstance(old, list) and isinstance(new, list) and len(old) == len(new)):
        return bool(old == new)
    return np.allclose(np.array(new, float), np.array(old, float), rtol=1e-12, atol=1e-12, equal_nan=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", metavar="PREFIX", help="only calls whose names begin like this")
    parser.add_argument("--most", type=int, default=3, help="differences to print of each call")
    options = parser.parse_args()
    lists = snapshot(options.only)
    if options.what == "write":
        options.file.write_text(json.dumps(lists, separators=(",", ":")), encoding="utf-8")
        return 0
    earlier = json.loads(options.file.read_text(encoding="utf-8"))
    is_fault = False
    for kind, new in lists.items():
        old = {name: leaves for name, leaves in earlier[kind].items() if name.startswith(options.only)}
        names = dict.fromkeys([*old, *new])
        found = {name: differences(old.get(name, {}), new.get(name, {})) for name in names}
        found = {name: lines for name, lines in found.items() if lines}
        print(f"{kind}: {len(names) - len(found)} of {len(names)} calls are equal")
        for name, lines in found.items():
            more = [f"    and {len(lines) - options.most} more"] if len(lines) > options.most else []
            print("\n".join([f"  {name}", *lines[: options.most], *more]))
        is_fault |= bool(found) and kind != TEXTS
    return int(is_fault)


if __name__ == "__main__":
    sys.exit(main())
