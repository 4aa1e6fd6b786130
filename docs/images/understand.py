"""Draw the pictures of docs/understand. ``python docs/images/understand.py``"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("agg")
from matplotlib import pyplot as plt

import heldout as ho

HERE = Path(__file__).parent
TRUTH, N_ROWS = 0.7, 100
OURS, THEIRS, GREY = "#1f5a99", "#c2571a", "#666666"


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(HERE / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)


def growth() -> None:
    """The best accuracy of C equal configurations on 100 rows."""
    rng = np.random.default_rng(0)
    numbers = np.unique(np.geomspace(1, 1000, 25).astype(int))
    scores = rng.binomial(N_ROWS, TRUTH, (2000, 1000)) / N_ROWS
    best = np.array([scores[:, :number].max(axis=1) for number in numbers])
    low, high = np.quantile(best, [0.05, 0.95], axis=1)
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.fill_between(numbers, low, high, color=THEIRS, alpha=0.2, linewidth=0)
    ax.plot(numbers, best.mean(axis=1), color=THEIRS, label="score of the best one, with 90 % of its values")
    ax.axhline(TRUTH, color=GREY, linestyle="--", label="true accuracy of every one")
    ax.set(xscale="log", xlabel="configurations tried", ylabel="accuracy on 100 rows", ylim=(0.6, 0.9))
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    ax.legend(frameon=False, loc="upper left")
    save(figure, "winners-curse-growth")


def corrected() -> None:
    """The best score of 50 equal configurations, and its correction, in 400 searches."""
    rng = np.random.default_rng(1)
    looked, estimated = [], []
    for _ in range(400):
        y = rng.integers(0, 2, N_ROWS)
        labels = np.where(rng.random((N_ROWS, 50)) < TRUTH, y[:, None], 1 - y[:, None])
        found = ho.estimate(y, labels, metric="accuracy", random_state=0, n_bootstraps=200)
        looked.append(found.uncorrected)
        estimated.append(found.value)
    figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    bins = np.arange(0.495, 0.9, 0.01)
    ax.hist(estimated, bins, color=OURS, alpha=0.75, label="corrected")
    ax.hist(looked, bins, color=THEIRS, alpha=0.75, label="uncorrected: the best of 50")
    ax.axvline(TRUTH, color=GREY, linestyle="--", label="true accuracy")
    ax.set(xlabel="accuracy", ylabel="searches of 400")
    ax.legend(frameon=False, loc="upper left")
    save(figure, "winners-curse-corrected")


def replay() -> None:
    """One bootstrap: select on the drawn rows, score on the others."""
    rng = np.random.default_rng(3)
    right = rng.random((12, 8)) < TRUTH
    drawn = np.bincount(rng.integers(0, 12, 12), minlength=12)
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.7), layout="constrained")
    inside = (right * drawn[:, None]).sum(axis=0) / drawn.sum()
    outside = right[drawn == 0].mean(axis=0)
    winners = right.mean(axis=0).argmax(), inside.argmax(), inside.argmax()
    titles = (
        f"all rows: configuration {winners[0] + 1} wins\nwith {right.mean(axis=0).max():.2f}",
        f"drawn rows: {winners[1] + 1} wins\nwith {inside.max():.2f}",
        f"rows not drawn: {winners[2] + 1} gets\n{outside[winners[2]]:.2f}",
    )
    used = np.ones(12, dtype=bool), drawn > 0, drawn == 0
    for ax, title, rows, winner in zip(axes, titles, used, winners, strict=True):
        shown = np.where(rows[:, None], np.where(right, 1.0, 0.45), 0.0)
        ax.imshow(shown, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
        ax.add_patch(plt.Rectangle((winner - 0.5, -0.5), 1, 12, fill=False, edgecolor=THEIRS, linewidth=2.5))
        for row in range(12):
            for column in range(8):
                if rows[row]:
                    ax.text(column, row, "✓" if right[row, column] else "·", ha="center", va="center", fontsize=8)
        ax.set(title=title, xlabel="configurations", xticks=range(8), xticklabels=range(1, 9), yticks=[])
        ax.title.set_fontsize(10)
    axes[1].set_yticks(range(12), [f"× {count}" if count else "" for count in drawn])
    axes[1].tick_params(axis="y", length=0, labelleft=True)
    axes[0].set_ylabel("held-out rows")
    save(figure, "winners-curse-replay")


if __name__ == "__main__":
    growth()
    corrected()
    replay()
