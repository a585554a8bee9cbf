collective all-reduce --platform gpus-4.xml --sizes 0:8:2
