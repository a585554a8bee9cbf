check data/of-framework-word.yaml
