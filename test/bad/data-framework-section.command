check data/of-framework-section.yaml
