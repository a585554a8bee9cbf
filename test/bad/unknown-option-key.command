run gpus-4.xml --platform=dgx-h100:4
