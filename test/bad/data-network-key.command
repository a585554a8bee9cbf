platform show data/of-network-key.yaml:2
