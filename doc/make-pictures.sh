#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make-pictures.sh [STAGESIM]: draws the pictures of README.md and doc/schedules.md into doc/images.
set -eu
stagesim=${1:-build/stagesim}
images=$(dirname "$0")/images
mkdir -p "$images"

draw() { # NAME FILE [ARGUMENT]...
    name=$1 file=$2
    shift 2
    rm -f "$images/$file.svg" # stagesim does not replace what a clone brought
    "$stagesim" schedule "$name" --workers 4 --micro-batches 8 "$@" -o "$images/$file.svg"
}

for name in $("$stagesim" list schedules --format csv | tail -n +2 | cut -d , -f 1); do
    case $name in
    stp) draw "$name" "$name" --micro-batches 12 ;; # it needs more micro-batches
    h-1f1b) draw "$name" "$name" --latency 1 ;;     # without messages it is 1f1b
    dynapipe) draw "$name" "$name" --option memory=3 ;;
    recycle) draw "$name" "$name" --workers 6 --micro-batches 12 --option stage=1 ;;
    v-adaptive) draw "$name" "$name" --option memory=3.5 ;;
    *) draw "$name" "$name" ;;
    esac
done
draw chimera chimera-doubling --option concatenation=doubling
draw chimera chimera-halving --option concatenation=halving
draw chimera chimera-part --micro-batches 6
draw gpipe gpipe-lifo --option backwards=lifo
draw gems gems-odd --workers 3 --micro-batches 4
draw hanayo hanayo-rounds --option order=rounds
draw dualpipe dualpipe-separate --option backward=separate
draw pipedream pipedream --iterations 2
draw pipedream-2bw pipedream-2bw --iterations 2

# The demo, for the front page.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$stagesim" compare "$(dirname "$0")/../scenarios/demo.yaml" --schedules gpipe,1f1b,chimera \
    -o "$work/compare" --picture png --quiet >"$work/log"
mv "$work/compare/comparison.png" "$images/comparison.png"

# The same for a column of a paper.
"$stagesim" compare "$(dirname "$0")/../scenarios/demo.yaml" --schedules gpipe,1f1b,chimera --picture svg \
    --picture-width 84mm --font-size 7 -o "$work/paper" --quiet >"$work/log"
mv "$work/paper/comparison.svg" "$images/paper.svg"

# Schedules by the mean and p95 of their steps.
whole=gpipe,1f1b,eager-1f1b,chimera,interleaved,group-interleaved,seq1f1b,slimpipe,mario,hanayo,bitpipe
"$stagesim" compare "$(dirname "$0")/../scenarios/demo.yaml" --quantiles --set tails=uneven-sequences \
    --schedules "$whole,interleaved-zb,zb-h1,v-half,v-min,dualpipe-v,mepipe" --engine analytic \
    --picture svg -o "$work/steps" --quiet >"$work/log"
mv "$work/steps/steps.svg" "$images/steps.svg"

# Data against model parallelism.
"$(dirname "$0")/../tools/batch-sweep.py" "$stagesim" "$images/accelerators.svg" >"$work/log"

# How far schedules are above the bound.
"$(dirname "$0")/../tools/gap-chart.py" "$stagesim" "$(dirname "$0")/../scenarios/demo.yaml" "$images/schedule-lab.svg"

# Platforms.
"$stagesim" platform generate dgx-1v --nodes 2 -o "$work/dgx-1v-2.xml"
rm -f "$images/platform-dgx-1v.svg" "$images/platform-pcie.svg" "$images/collective.svg"
"$stagesim" platform show "$work/dgx-1v-2.xml" --format svg -o "$images/platform-dgx-1v.svg"
"$stagesim" platform show "$(dirname "$0")/../platforms/pcie-a100-8.xml" --format svg -o "$images/platform-pcie.svg"

# Collectives: the rings of a node, and times beside measured tables.
python3 "$(dirname "$0")/rings.py" "$stagesim" dgx-1v:1 "$images/collectives-rings.svg"
"$stagesim" collective all-reduce --platform "$(dirname "$0")/../platforms/dgx-a100-2.xml" -o "$images/collective.svg"
rm -f "$images"/collectives-a100.svg "$images"/collectives-efa.svg "$images"/collectives-h100.svg \
    "$images"/collectives-slingshot.svg
python3 "$(dirname "$0")/../test/validation/collectives.py" "$stagesim" "$images"

rows=$(dirname "$0")/../test/validation/vtrain
python3 "$(dirname "$0")/../test/validation/picture.py" "$stagesim" \
    "$images/accuracy.svg" "$rows/multi_node.csv" "$rows/single_node.csv" >"$work/log"

# Sweeps, for README.md and doc/sweep.md.
"$stagesim" sweep "$(dirname "$0")/../scenarios/demo.yaml" --set batch.global=512:4096:x2 \
    --schedules gpipe,1f1b,chimera,interleaved,zb-h1,dualpipe --y bubble -o "$work/sweep" --quiet >"$work/log"
mv "$work/sweep/sweep.svg" "$images/sweep-bubble.svg"
"$stagesim" sweep "$(dirname "$0")/../scenarios/gpt-7.5b.yaml" --set parallel.tensor=1,2,4,8 --set batch.micro=1,2,4,8 \
    --set engine=analytic --y samples_per_s -o "$work/sweep" --quiet >"$work/log"
mv "$work/sweep/sweep.svg" "$images/sweep-field.svg"

# A queue, for doc/queue.md.
"$stagesim" run "$(dirname "$0")/../scenarios/queue.yaml" --picture svg -o "$work/queue" --quiet >"$work/log"
mv "$work/queue/timeline.svg" "$images/queue.svg"
"$stagesim" run "$(dirname "$0")/../scenarios/queue-failures.yaml" --picture svg -o "$work/failing" --quiet >"$work/log"
mv "$work/failing/timeline.svg" "$images/queue-failures.svg"

# Layouts, for doc/search.md.
"$stagesim" search "$(dirname "$0")/../scenarios/gpt-7.5b.yaml" --engine analytic \
    -o "$work/search" --picture png --quiet >"$work/log"
mv "$work/search/search.png" "$images/search.png"

# Embedding tables and dense layers, for doc/dlrm.md.
"$stagesim" run "$(dirname "$0")/../scenarios/dlrm.yaml" --picture svg -o "$work/dlrm" --quiet >"$work/log"
mv "$work/dlrm/timeline.svg" "$images/dlrm.svg"

# Elastic jobs, for doc/idle-nodes.md.
"$stagesim" run "$(dirname "$0")/../scenarios/idle-nodes.yaml" --set idle_nodes.duration=24h -o "$work/idle" \
    --picture png --quiet >"$work/log"
mv "$work/idle/timeline.png" "$images/idle-nodes.png"

# A month of a training, for doc/train.md.
"$stagesim" train "$(dirname "$0")/../scenarios/training.yaml" -o "$work/train" --quiet >"$work/log"
mv "$work/train/month.svg" "$images/train-month.svg"
