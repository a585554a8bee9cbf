collective all-reduce --platform gpus-4.xml --ranks 9
