check data/of-model-layers.yaml
