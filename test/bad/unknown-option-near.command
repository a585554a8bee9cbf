search gpus-4.xml --shards 1/2
