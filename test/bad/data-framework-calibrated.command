check data/of-framework-calibrated.yaml
