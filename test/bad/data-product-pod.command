platform show data/product-pod.yaml:2
