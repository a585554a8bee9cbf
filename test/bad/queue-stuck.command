run queue-stuck.yaml -o out
