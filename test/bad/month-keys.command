month generate month-keys.yml -o out
