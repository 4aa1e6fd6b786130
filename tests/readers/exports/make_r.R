# Made with R and caret: a whole train object, its predictions, and a file of save() with one table among other objects.
# tidymodels.rda is data/reg_res_lr.rda of github.com/tidymodels/stacks (MIT licence, RStudio): tune_results with their
# predictions, resamples and models, unchanged.
suppressMessages(library(caret))
set.seed(1)
data <- iris[c(51:80, 101:130), ]
data$Species <- factor(as.character(data$Species))
control <- trainControl("cv", 5, savePredictions = "all", classProbs = TRUE)
grid <- data.frame(k = c(1, 5, 9))
fit <- train(Species ~ Sepal.Length + Sepal.Width, data, method = "knn", tuneGrid = grid, trControl = control)
saveRDS(fit, "r/fit.rds")
pred <- fit$pred
numbers <- 1:3
save(numbers, pred, file = "r/pred.rda")
saveRDS(numbers, "r/numbers.rds")
other <- fit
save(fit, other, file = "r/two.rda")
control$savePredictions <- FALSE
without <- train(Species ~ Sepal.Length, data, method = "knn", tuneGrid = grid, trControl = control)
saveRDS(without, "r/without_predictions.rds")
print(fit$results)
by(fit$pred, fit$pred$k, function(each) mean(each$pred == each$obs))

# The shapes of tidymodels' objects, which Debian does not package: results of tune_grid(), and a set of workflows.
tibble <- function(..., .class = NULL) {
  columns <- list(...)
  structure(columns, class = c(.class, "tbl_df", "tbl", "data.frame"), row.names = c(NA, -length(columns[[1]])))
}
predictions <- function(rows, k) tibble(.pred = rows + k / 10, .row = rows, neighbors = rep(k, length(rows)),
                                        y = as.numeric(rows), .config = rep(paste0("pre0_mod", k), length(rows)))
results <- function(k, ...) tibble(splits = list(1, 2), id = c("Fold1", "Fold2"), .metrics = list(1, 2), ...,
                                   .predictions = list(predictions(1:3, k), predictions(4:6, k)), .class = "tune_results")
set <- tibble(wflow_id = c("knn", "trees"), result = list(results(1), results(2)), .class = "workflow_set")
saveRDS(set, "r/workflows.rds")
failed <- results(1)
failed$.predictions[2] <- list(NULL)
saveRDS(failed, "r/failed.rds")
metrics <- results(1)
metrics$.predictions <- NULL
saveRDS(metrics, "r/metrics.rds")
saveRDS(results(1, .iter = c(0L, 1L)), "r/iterations.rds")
table <- data.frame(a = 1:2)
table$b <- list(1, 2:3)
saveRDS(table, "r/lists.rds")
saveRDS(data.frame(x = c(1, NA), n = c(3L, NA), s = c("a", NA), f = factor(c("b", NA)), l = c(TRUE, FALSE)), "r/types.rds")

# A model that holds functions of R itself.
set.seed(2)
control <- trainControl("repeatedcv", 4, repeats = 2, savePredictions = "all")
fit <- train(mpg ~ wt + hp, mtcars, method = "knn", preProcess = "scale", tuneGrid = data.frame(k = c(1, 4)), trControl = control)
saveRDS(fit, "r/preprocessed.rds")
print(fit$results, digits = 9)
