plan plan-jobs.yaml
