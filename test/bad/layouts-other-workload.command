layouts layouts-other-workload.yaml
