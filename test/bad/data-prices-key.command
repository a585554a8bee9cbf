check data/of-prices-key.yaml
