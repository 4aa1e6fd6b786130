"""Numbers that stand for a missing value, such as 999."""

import shlex
from typing import Any

from heldout._text import counted
from heldout.readers.columns import quoted

USUAL_CODES = [sign * int(digit * n) for n in (1, 2, 3, 4) for digit in "789" for sign in (1, -1)]
"""Numbers that often stand for a missing value: 9, -99, 888 …"""
FEWEST_CODES = 3


def remarks_on_codes(frame: Any) -> list[str]:
    """Remarks on numbers that may stand for a missing value.

    A number of ``USUAL_CODES`` is one if at least three cells of a column hold it and it is beyond the others by
    more than their range.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 81, 999, 999, 999], "n": [7, 8, 9, 9, 9]})
    >>> remarks_on_codes(frame)[0].partition("; if")[0]
    "999 is far from all other values of 'age' (3 rows; the others are 20 to 81)"
    """
    columns: dict[int, dict[str, str]] = {}
    for name in frame.columns[[dtype.kind in "iuf" for dtype in frame.dtypes]]:
        column = frame[name].dropna()
        is_code = column.isin(USUAL_CODES)
        rest = column[~is_code]
        if is_code.sum() < FEWEST_CODES or rest.nunique() < 2:
            continue
        low, high = float(rest.min()), float(rest.max())
        for code, count in column[is_code].value_counts().items():
            if count >= FEWEST_CODES and not 2 * low - high <= code <= 2 * high - low:
                others = f"{counted(count, 'row')}; the others are {low:g} to {high:g}"
                columns.setdefault(int(code), {})[str(name)] = f"{quoted([name])} ({others})"
    return [
        f"{code} is far from all other values of {', '.join([*found.values()][:5])}; if it stands for a missing "
        f"value, use --missing {code}, or --missing {shlex.quote(f'{next(iter(found))}={code}')} in one column."
        for code, found in columns.items()
    ]
