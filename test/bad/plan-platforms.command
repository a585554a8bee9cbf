plan plan-platforms.yaml
