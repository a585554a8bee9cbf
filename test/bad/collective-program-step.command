collective all-reduce --platform gpus-4.xml --ranks 2 --algorithm program-step.xml
