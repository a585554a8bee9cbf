collective all-to-all --platform gpus-4.xml --algorithm ring
