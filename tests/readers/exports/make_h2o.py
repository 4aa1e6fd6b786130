"""Exports of H2O 3.46 from cells.csv and sugar.csv; prints the scores that H2O computes from these predictions."""

import h2o
import pandas as pd
from h2o.estimators import H2OGeneralizedLinearEstimator, H2OGradientBoostingEstimator

h2o.init(nthreads=1, max_mem_size="1G", port=54777, strict_version_check=False, verbose=False)
h2o.no_progress()
settings = {
    "nfolds": 3,
    "seed": 1,
    "fold_assignment": "Random",
    "keep_cross_validation_predictions": True,
    "keep_cross_validation_fold_assignment": True,
}
trees = {"ntrees": 5, "max_depth": 2, **settings}
frame = h2o.H2OFrame(pd.read_csv("cells.csv"))
frame["diagnosis"] = frame["diagnosis"].asfactor()
models = {
    "gbm": H2OGradientBoostingEstimator(**trees),
    "glm": H2OGeneralizedLinearEstimator(family="binomial", **settings),
}
for name, model in models.items():
    model.train(y="diagnosis", training_frame=frame)
    held_out = model.cross_validation_holdout_predictions().cbind(model.cross_validation_fold_assignment())
    h2o.export_file(held_out.cbind(frame["diagnosis"]), f"h2o/models/{name}.csv", force=True)
    print(name, "AUC", model.auc(xval=True), "log loss", model.logloss(xval=True))
first_fold = models["gbm"].cross_validation_predictions()[0].cbind(models["gbm"].cross_validation_fold_assignment())
h2o.export_file(first_fold.cbind(frame["diagnosis"]), "h2o/of_one_fold.csv", force=True)

frame["ill"] = (frame["diagnosis"] == "malignant").asfactor()
model = H2OGradientBoostingEstimator(**trees)
model.train(x=frame.columns[:4], y="ill", training_frame=frame)
held_out = model.cross_validation_holdout_predictions().cbind(model.cross_validation_fold_assignment())
h2o.export_file(held_out.cbind(frame["ill"]), "h2o/numbered_classes.csv", force=True)
print("numbered classes AUC", model.auc(xval=True))

frame = h2o.H2OFrame(pd.read_csv("sugar.csv"))
model = H2OGradientBoostingEstimator(**trees)
model.train(y="progression", training_frame=frame)
held_out = model.cross_validation_holdout_predictions().cbind(model.cross_validation_fold_assignment())
h2o.export_file(held_out.cbind(frame["progression"]), "h2o/numbers.csv", force=True)
print("numbers RMSE", model.rmse(xval=True))
h2o.cluster().shutdown()
