platform show data/of-wire-key.yaml:2
