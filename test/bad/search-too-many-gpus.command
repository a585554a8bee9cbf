search search-too-many-gpus.yaml --gpus 8 -o results-many
