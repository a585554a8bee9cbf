platform show data/of-device-unit.yaml:2
