layouts jobs-layouts.yaml
