platform show data/product-step.yaml:2
