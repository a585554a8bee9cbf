check data/of-plan-ratio.yaml
