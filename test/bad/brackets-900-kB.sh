head -c 900000 /dev/zero | tr '\0' '['
