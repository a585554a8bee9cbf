check data/of-framework-measured.yaml
