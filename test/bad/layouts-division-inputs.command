layouts layouts-division-inputs.yaml --method owt
