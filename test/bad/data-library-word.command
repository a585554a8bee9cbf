platform show data/of-library-word.yaml:2
