compare queue-schedules.yaml --schedules gpipe,1f1b
