check data/of-prices-offer.yaml
