sweep idle-schedules.yaml --schedules all
