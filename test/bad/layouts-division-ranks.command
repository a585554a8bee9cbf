layouts layouts-division-ranks.yaml --method accpar
