platform show data/product-unknown.yaml:2
