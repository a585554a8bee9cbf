check data/of-framework-rule.yaml
