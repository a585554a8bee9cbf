head -c 10000000 /dev/zero | tr '\0' '['
