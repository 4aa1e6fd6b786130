"""Predictions in the files of OpenML's Python client: its columns in its order, written by liac-arff as it does.

Two repeats of three folds on every second row of scikit-learn's iris; a run that OpenML has needs its server.
"""

from pathlib import Path

import arff
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

X, y = load_iris(return_X_y=True)
X, y = X[::2], y[::2]
names = ["Iris-setosa", "Iris versicolor", "Iris-virginica"]
splits = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0).split(X, y))
keys = [("repeat", "NUMERIC"), ("fold", "NUMERIC")]


def write(run: str, task: int, attributes: list, lines: list) -> None:
    folder = Path("openml", run)
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "description": run,
        "relation": f"openml_task_{task}_predictions",
        "attributes": attributes,
        "data": lines,
    }
    (folder / "predictions.arff").write_text(arff.dumps(content))


for k in (1, 7, 40):
    lines, hits = [], []
    for place, (train, test) in enumerate(splits):
        shares = KNeighborsClassifier(k).fit(X[train], y[train]).predict_proba(X[test])
        for row, share in zip(test, shares, strict=True):
            predicted = int(share.argmax())
            hits.append(predicted == y[row])
            key = [place // 3, place % 3, 0, int(row)]
            lines.append([*key, names[predicted], names[y[row]], *map(float, share)])
    print("k", k, "accuracy", np.mean(hits))
    attributes = [*keys, ("sample", "NUMERIC"), ("row_id", "NUMERIC"), ("prediction", names), ("correct", names)]
    write(f"runs/nearest_{k}", 59, [*attributes, *((f"confidence.{name}", "NUMERIC") for name in names)], lines)

lines = []
for place, (train, test) in enumerate(splits[:3]):
    predicted = KNeighborsRegressor(5).fit(X[train, :3], X[train, 3]).predict(X[test, :3])
    lines += [
        [0, place, int(row), float(each), float(X[row, 3])] for row, each in zip(test, predicted, strict=True)
    ]
numbers = np.array(lines)
print("numbers RMSE", np.sqrt(np.mean((numbers[:, 3] - numbers[:, 4]) ** 2)))
attributes = [*keys, ("row_id", "NUMERIC"), ("prediction", "NUMERIC"), ("truth", "NUMERIC")]
write("numbers", 60, attributes, lines)
