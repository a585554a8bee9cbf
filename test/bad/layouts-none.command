layouts layouts-none.yaml --set batch.global=4 --set model.heads=7
