# Made with WEKA 3.9.6, from the data sets that WEKA ships. WEKA 3.6 cannot: it prints predictions as plain text only.
set -e
weka() { java -cp "$WEKA_JARS" "$@"; }  # weka.jar and the jars beside it
data=${WEKA_DATA:-/usr/share/doc/weka/examples}
csv=weka.classifiers.evaluation.output.prediction.CSV
weka weka.filters.unsupervised.instance.RemovePercentage -P 88 -i "$data/diabetes.arff" -o /tmp/diabetes.arff
for k in 1 5 15; do
    weka weka.classifiers.lazy.IBk -K $k -t /tmp/diabetes.arff -x 5 -s 1 \
        -classifications "$csv -p 1-2 -distribution -decimals 9 -file weka/ibk$k.csv" > /dev/null
    weka weka.classifiers.lazy.IBk -K $k -t /tmp/diabetes.arff -x 5 -s 1 -v -o | grep -E "Correctly|Weighted"  # accuracy, ROC area
done
weka weka.classifiers.lazy.IBk -K 5 -t /tmp/diabetes.arff -x 5 -s 2 \
    -classifications "$csv -p 1-2 -distribution -decimals 9 -file weka/other_seed" > /dev/null
weka weka.classifiers.lazy.IBk -K 5 -t /tmp/diabetes.arff -x 5 -s 1 \
    -classifications "$csv -distribution -file weka/rounded.csv" > /dev/null
weka weka.classifiers.trees.J48 -t "$data/iris.arff" -x 3 -s 1 -classifications "$csv" > weka/printed.txt
weka weka.classifiers.trees.J48 -t "$data/iris.arff" -no-cv -classifications "$csv" > weka/printed_training.txt
weka weka.filters.unsupervised.instance.RemovePercentage -P 70 -i "$data/cpu.arff" -o /tmp/cpu.arff
weka weka.classifiers.trees.REPTree -t /tmp/cpu.arff -x 3 -s 1 -classifications "$csv -file weka/cpu.csv" > /dev/null
weka weka.classifiers.trees.REPTree -t /tmp/cpu.arff -x 3 -s 1 -v -o | grep "Root mean"
