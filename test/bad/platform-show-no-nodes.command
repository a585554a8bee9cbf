platform show dgx-h100
