month fit queue-good.csv -o out
