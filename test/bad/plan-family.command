plan plan-family.yaml
