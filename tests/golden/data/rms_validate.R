# The numbers of rms_validate.json, by rms 6.5.0 in R 4.2.2:  Rscript rms_validate.R > rms_validate.json
#
# rms_study.csv: 160 made-up patients. rms_samples.txt: a bootstrap sample a line, how often it drew each row, a digit
# a row. rms draws by sample(), which is replaced by these samples; its regressions stop early (a change of the
# deviance of .00025 or of the log-likelihood of .0001), and are taken further here.
suppressMessages(library(rms))
here <- function(name) file.path(dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE))), name)
d <- read.csv(here("rms_study.csv"), stringsAsFactors = TRUE)
counts <- lapply(strsplit(readLines(here("rms_samples.txt")), ""), as.integer)
B <- length(counts)

exact <- new.env(parent = asNamespace("rms"))
at <- 0
exact$sample <- function(...) { at <<- at + 1; rep(seq_along(counts[[at]]), counts[[at]]) }
exact$lrm.fit <- function(..., maxit, eps) rms::lrm.fit(..., maxit = 50, eps = 1e-12)
exact$coxphFit <- function(..., eps, iter.max) rms:::coxphFit(..., eps = 1e-12, iter.max = if (iter.max) 50 else 0)
taken <- function(name) { f <- getFromNamespace(name, "rms"); environment(f) <- exact; assign(name, f, exact); f }
invisible(taken("predab.resample"))

number <- function(x) ifelse(is.finite(x), formatC(x, digits = 15, format = "g"), "null")
listed <- function(x) paste0("[", paste(number(as.vector(x)), collapse = ", "), "]")
named <- function(x) paste0("{", paste0('"', names(x), '": ', x, collapse = ", "), "}")

shown <- function(fit, validate) {
  at <<- 0
  table <- unclass(validate(fit, B = B))
  estimate <- coef(fit); error <- sqrt(diag(vcov(fit)))
  reach <- error * if (inherits(fit, "ols")) qt(.975, fit$df.residual) else qnorm(.975)
  lr <- fit$stats["Model L.R."]; df <- fit$stats["d.f."]
  named(c(
    coefficients = named(setNames(apply(cbind(estimate, error, estimate - reach, estimate + reach), 1, listed), names(estimate))),
    likelihood_ratio = listed(c(lr, df, 1 - pchisq(lr, df))),
    validate = paste0("\n", named(setNames(apply(table[, 1:5], 1, listed), rownames(table))))
  ))
}
logistic <- lrm(ill ~ age + sex + stage + marker, d, x = TRUE, y = TRUE, eps = 1e-12, maxit = 50)
linear <- ols(cost ~ age + sex + stage + marker, d, x = TRUE, y = TRUE)
cox <- cph(Surv(years, died) ~ age + sex + stage + marker, d, x = TRUE, y = TRUE, surv = TRUE, eps = 1e-12, iter.max = 50)
cat(paste0(named(c(
  logistic = shown(logistic, taken("validate.lrm")),
  linear = shown(linear, taken("validate.ols")),
  cox = shown(cox, taken("validate.cph"))
)), "\n"))
