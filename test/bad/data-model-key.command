check data/of-model-key.yaml
