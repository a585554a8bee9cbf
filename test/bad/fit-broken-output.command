platform fit measured-output.part --platform gpus-4.xml -o never.xml
