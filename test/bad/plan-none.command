plan plan-none.yaml
