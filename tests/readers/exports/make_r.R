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
