platform fit measured-csv.part --platform gpus-4.xml -o never.xml
