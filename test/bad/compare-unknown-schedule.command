compare compare-unknown-schedule.yaml --schedules gpipe,1f2b
