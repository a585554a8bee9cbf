platform fit measured-ranks.part --platform gpus-4.xml -o never.xml
