platform show data/product-part.yaml:2
