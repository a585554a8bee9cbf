sweep gpus-4.xml --set iterations=2 --set parallel.tensor=1..8
