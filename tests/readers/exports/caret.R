# Makes the exports of caret that the tests read: Rscript caret.R, in this folder. caret 6.0-93, R 4.2.
suppressMessages(library(caret))

set.seed(1)
n <- 40
rows <- data.frame(x1 = rnorm(n), x2 = rnorm(n), x3 = rnorm(n))
rows$y <- rows$x1 + rows$x2 + rnorm(n)
rows$class <- factor(ifelse(rows$y > 0, "yes", "no"))
rows$kind <- factor(c("low", "mid", "high")[1 + (rows$y > -0.7) + (rows$y > 0.7)], levels = c("low", "mid", "high"))

export <- function(name, formula, ks, ...) {
  set.seed(2)
  fit <- suppressWarnings(train(
    formula, rows, method = "knn", tuneGrid = data.frame(k = ks), trControl = trainControl(...)
  ))
  pred <- fit$pred
  numeric <- sapply(pred, is.double)
  pred[numeric] <- lapply(pred[numeric], signif, 9)
  write.csv(pred, paste0("caret-", name, ".csv"), row.names = FALSE)
}

ks <- c(1, 3, 5, 9)
export("cv", class ~ x1 + x2 + x3, ks, method = "cv", number = 5, classProbs = TRUE, savePredictions = "all")
export("labels", class ~ x1 + x2 + x3, ks, method = "cv", number = 5, savePredictions = "all")
export("repeats", class ~ x1 + x2 + x3, ks, method = "repeatedcv", number = 4, repeats = 3, classProbs = TRUE,
       savePredictions = "all")
export("final", class ~ x1 + x2 + x3, ks, method = "cv", number = 5, classProbs = TRUE, savePredictions = "final")
export("loo", class ~ x1 + x2 + x3, ks, method = "LOOCV", classProbs = TRUE, savePredictions = "all")
export("boot", y ~ x1 + x2 + x3, ks, method = "boot", number = 6, savePredictions = "all")
export("regression", y ~ x1 + x2 + x3, ks, method = "cv", number = 5, savePredictions = "all")
export("classes", kind ~ x1 + x2 + x3, ks, method = "cv", number = 5, classProbs = TRUE, savePredictions = "all")

# A grid of two settings, the rows weighted.
set.seed(2)
weighted <- suppressWarnings(train(
  class ~ x1 + x2 + x3, rows, method = "rpart", weights = rep(1:2, n / 2),
  trControl = trainControl(method = "cv", number = 5, classProbs = TRUE, savePredictions = "all"), tuneLength = 3
))
write.csv(weighted$pred, "caret-weights.csv", row.names = FALSE)
