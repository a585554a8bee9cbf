collective all-reduce --platform gpus-4.xml --sizes 8:1e16:2
