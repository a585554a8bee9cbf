platform show data/of-device-peak.yaml:2
