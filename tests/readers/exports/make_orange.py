"""Exports of Orange 3.40: what Test and Score sends on as its predictions, saved as Save Data does."""

from Orange.classification import LogisticRegressionLearner, NaiveBayesLearner, TreeLearner
from Orange.data import Table
from Orange.data.io import CSVReader, TabReader
from Orange.evaluation import CA, RMSE, CrossValidation, ShuffleSplit
from Orange.regression import LinearRegressionLearner, MeanLearner


def predictions(table, learners, sampling):
    results = sampling(table, learners)
    print([learner.name for learner in learners], (CA if table.domain.class_var.is_discrete else RMSE)(results))
    return results.get_augmented_data([learner.name for learner in learners])


iris = Table("iris")[::3]
learners = [LogisticRegressionLearner(), NaiveBayesLearner(), TreeLearner()]
found = predictions(iris, learners, CrossValidation(k=3, store_data=True))
TabReader.write_file("orange/iris.tab", found)
CSVReader.write_file("orange/iris_without_types.csv", found, with_annotations=False)
found = predictions(iris, learners, ShuffleSplit(n_resamples=5, test_size=0.34, store_data=True))
TabReader.write_file("orange/random_sampling.tab", found)
learners = [LinearRegressionLearner(), MeanLearner()]
found = predictions(Table("housing")[::10], learners, CrossValidation(k=5, store_data=True))
CSVReader.write_file("orange/housing.csv", found, with_annotations=True)
