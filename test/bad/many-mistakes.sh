# 200 values without a unit: after 50 reports the rest is only counted.
printf 'platform: gpus-4.xml\nworkload: stages\nstages:\n  backward: 2s\n  forward:\n'
yes '    - 1' | head -n 200
