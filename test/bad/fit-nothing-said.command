platform fit measured-nothing.part --platform gpus-4.xml -o never.xml
