month generate month-none.yml -o out
