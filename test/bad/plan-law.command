plan plan-law.yaml
