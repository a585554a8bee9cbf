layouts layouts-division-pipeline.yaml --method data
