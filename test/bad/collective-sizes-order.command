collective all-reduce --platform gpus-4.xml --sizes 1MiB:8:2
