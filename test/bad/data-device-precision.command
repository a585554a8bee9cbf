platform show data/of-device-precision.yaml:2
