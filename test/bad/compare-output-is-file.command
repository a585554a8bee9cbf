compare compare-output-is-file.yaml --schedules gpipe,1f1b -o gpus-4.xml
