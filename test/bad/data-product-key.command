platform show data/product-key.yaml:2
