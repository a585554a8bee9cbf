platform show data/product-devices.yaml:2
