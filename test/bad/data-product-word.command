platform show data/product-word.yaml:2
