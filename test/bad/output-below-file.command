run output-below-file.yaml -o gpus-4.xml/results --trace csv
