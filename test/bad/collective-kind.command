collective all-reduc --platform gpus-4.xml
