month generate month-sizes.yml -o out
