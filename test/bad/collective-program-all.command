collective all-reduce --platform gpus-4.xml --algorithm all --format msccl
