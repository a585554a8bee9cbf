platform show data/of-network-needs.yaml:2
