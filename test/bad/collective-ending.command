collective all-reduce --platform gpus-4.xml -o never.xyz
