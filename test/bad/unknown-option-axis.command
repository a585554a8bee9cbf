sweep gpus-4.xml --tp 8
