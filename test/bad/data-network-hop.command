platform show data/of-network-hop.yaml:2
