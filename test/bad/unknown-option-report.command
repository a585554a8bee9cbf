report --pictur svg .
