platform show data/product-kind.yaml:2
