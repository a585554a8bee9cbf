search search-no-layout.yaml
