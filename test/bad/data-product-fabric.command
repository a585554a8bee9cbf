platform show data/product-fabric.yaml:2
