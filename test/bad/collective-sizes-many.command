collective all-reduce --platform gpus-4.xml --sizes 8:1TiB:1.001
