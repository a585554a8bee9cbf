import config-value-twice.json
