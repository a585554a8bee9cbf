check model-nearr.yaml
