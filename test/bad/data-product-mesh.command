platform show data/product-mesh.yaml:2
