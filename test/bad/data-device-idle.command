platform show data/of-device-idle.yaml:2
