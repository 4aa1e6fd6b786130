"""What heldout wrote and reads again: the metadata of ``predictions.parquet``, its lines and its bytes.

``tests/cli/test_report_mutations.py`` has those of ``report.json``.
"""

import json
from pathlib import Path

import pyarrow.parquet as pq
from bad_run_files import copied, finished
from bad_values import Generator, changed, damaged, pick
from oracle import Case, Ended, command, fault_of_printed

ESTIMATE = ("estimate", "out/predictions.parquet", "--n-bootstraps", "10", "--json")


def make(rng: Generator, folder: Path) -> Case:
    """A file that is changed, then read by the command that reads it."""
    copied(folder)
    kind = pick(rng, ("metadata", "metadata", "metadata", "lines", "bytes"))
    return {"metadata": _metadata, "lines": _lines, "bytes": _bytes}[kind](rng, folder / "out")


def _metadata(rng: Generator, out: Path) -> Case:
    path = out / "predictions.parquet"
    arrow = pq.read_table(path)
    said = json.loads(arrow.schema.metadata[b"heldout"])
    raw = pick(
        rng, (None, None, None, None, b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"nan", b'"x"')
    )
    words = f"metadata {raw!r:.40}"
    if raw is None:
        document, words = changed(rng, said)
        if rng.random() < 0.3:
            document, more = changed(rng, document)
            words += f"; {more}"
        raw = json.dumps(document).encode("utf-8", "backslashreplace")
    pq.write_table(arrow.replace_schema_metadata({**arrow.schema.metadata, b"heldout": raw}), path)
    if rng.random() < 0.2:
        of_rows = ["tune", "out/predictions.parquet", "--target", "y", "--cv", "2", "--n-jobs", "1"]
        arguments = [*of_rows, "--out", "new", "--json"]
        return Case(f"tune of it; {words}", lambda: command(*arguments), fault_of_printed)
    return Case(f"estimate; {words}", lambda: command(*ESTIMATE), fault_of_printed)


def _lines(rng: Generator, out: Path) -> Case:
    """Lines in another order are the same predictions; lines or columns missing or twice are refused."""
    path = out / "predictions.parquet"
    arrow = pq.read_table(path)
    frame = arrow.to_pandas()
    act = pick(rng, ("order", "order", "remove", "repeat", "column"))
    n = len(frame)
    gone = int(rng.integers(n))
    if act == "column":
        frame = frame.drop(columns=pick(rng, list(frame.columns)))
    else:
        rows = {
            "order": rng.permutation(n),
            "remove": [i for i in range(n) if i != gone],
            "repeat": [0, *range(n)],
        }[act]
        frame = frame.iloc[rows]
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(
        table.replace_schema_metadata(
            {**(table.schema.metadata or {}), b"heldout": arrow.schema.metadata[b"heldout"]}
        ),
        path,
    )

    def right(ended: Ended) -> str | None:
        before = json.loads((finished() / "printed.json").read_text())
        after = json.loads(ended.out)
        if act == "order" and (before["value"], before["uncorrected"]) != (after["value"], after["uncorrected"]):
            return f"another order gives {after['value']} in place of {before['value']}"
        return fault_of_printed(ended) if act in ("order", "column") else "answered"

    return Case(f"estimate of lines: {act}", lambda: command(*ESTIMATE), right, healthy=act == "order")


def _bytes(rng: Generator, out: Path) -> Case:
    path = out / "predictions.parquet"
    content, words = damaged(rng, path.read_bytes())
    path.write_bytes(content)
    return Case(f"estimate of predictions.parquet with {words}", lambda: command(*ESTIMATE), fault_of_printed)
