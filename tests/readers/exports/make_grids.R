# Makes the exports of mlr3 and tidymodels that the tests read, and prints what each tool scores: Rscript make_grids.R, in
# this folder. mlr3 1.8, mlr3learners 0.15.1, mlr3tuning 1.6.1, tune 2.0.0, parsnip 1.4.1, rsample 1.3.2, R 4.2.
rows <- read.csv("cells.csv", stringsAsFactors = TRUE)

suppressMessages({library(mlr3); library(mlr3learners); library(mlr3tuning); library(data.table)})
lgr::get_logger("mlr3")$set_threshold("warn")
lgr::get_logger("bbotk")$set_threshold("warn")
set.seed(1)
task <- as_task_classif(rows, target = "diagnosis", positive = "malignant")
learner <- lrn("classif.kknn", predict_type = "prob", k = to_tune(c(1, 3, 9)))
instance <- tune(tuner = tnr("grid_search"), task = task, learner = learner,
                 resampling = rsmp("cv", folds = 4), measures = msr("classif.auc"))
results <- instance$archive$benchmark_result$resample_results$resample_result
lines <- function(rr) cbind(learner_id = rr$learner$id, rbindlist(lapply(rr$predictions(), as.data.table), idcol = "iteration"))
write.csv(rbindlist(lapply(results, lines), idcol = "nr"), "mlr3/grid.csv", row.names = FALSE)
for (rr in results) print(rr$prediction()$score(msr("classif.auc")), digits = 12)

suppressMessages({library(parsnip); library(rsample); library(workflows); library(tune); library(yardstick)})
set.seed(1)
flow <- workflow(diagnosis ~ ., nearest_neighbor(mode = "classification", neighbors = tune()))
tuned <- tune_grid(flow, vfold_cv(rows, v = 4, strata = diagnosis), grid = data.frame(neighbors = c(1, 3, 9)),
                   metrics = metric_set(roc_auc, accuracy), control = control_grid(save_pred = TRUE))
found <- collect_predictions(tuned, summarize = FALSE)
write.csv(found, "tidymodels/grid.csv", row.names = FALSE)
for (k in c(1, 3, 9)) print(roc_auc_vec(found$diagnosis[found$neighbors == k], found$.pred_benign[found$neighbors == k]), digits = 12)
