search search-stages.yaml -o results-stages
