platform show data/product-needs.yaml:2
