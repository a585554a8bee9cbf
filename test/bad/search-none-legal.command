search search-none-legal.yaml -o results
