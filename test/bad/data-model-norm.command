check data/of-model-norm.yaml
