platform show data/of-device-needs.yaml:2
