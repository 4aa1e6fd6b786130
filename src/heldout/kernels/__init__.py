"""Hot loops: arrays in, arrays out. No metric, task or scikit-learn object comes down here."""
