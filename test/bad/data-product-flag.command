platform show data/product-flag.yaml:2
