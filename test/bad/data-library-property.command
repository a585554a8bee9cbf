platform show data/of-library-property.yaml:2
