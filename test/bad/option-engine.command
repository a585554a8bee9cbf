run option-engine.yaml --engine simgird --trace paje,crome --picture jpg -o results
