platform show data/of-device-memory.yaml:2
