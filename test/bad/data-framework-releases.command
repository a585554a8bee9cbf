check data/of-framework-releases.yaml
