run output-is-file.yaml -o gpus-4.xml
