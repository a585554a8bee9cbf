platform show data/product-cable.yaml:2
