platform show data/of-device-no-peak.yaml:2
