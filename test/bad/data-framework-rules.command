check data/of-framework-rules.yaml
