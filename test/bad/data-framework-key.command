check data/of-framework-key.yaml
