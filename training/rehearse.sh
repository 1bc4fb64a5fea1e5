#!/usr/bin/env bash
# The whole way in small, on a CPU, in a few minutes: data, tokenizer, main model, text with more of what it lacks, going on from a checkpoint, draft
# model taught by it, and a completion by the program. Shows that everything fits together, not that the models are any good.
#
#   ./rehearse.sh FOLDER [bass-tui]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?give a folder for what it makes}
program=${2:-bass-tui}
python "$here/prepare.py" --out "$out/data" --exercises 4000
small=(--data "$out/data" --shape tiny --context 128 --batch 4)
python "$here/train.py" "${small[@]}" --out "$out/main" --steps 40
python "$here/weak.py" problems --out "$out/all.jsonl"
head -n 5 "$out/all.jsonl" > "$out/weak.jsonl"
"$program" eval "$out/weak.jsonl" --model "$out/main/model" --draft none -n 2 --max-tokens 32 --k 1 --json > "$out/weak.json" || [ $? = 1 ]  # none solved
python "$here/weak.py" weights --results "$out/weak.json" --out "$out/more_of.json"
mkdir -p "$out/data2" && cp "$out/data/tokenizer.json" "$out/data2"
python "$here/prepare.py" --out "$out/data2" --exercises 1000 --more-of "$out/more_of.json"
small[1]="$out/data2"
python "$here/train.py" "${small[@]}" --out "$out/main" --steps 20 --resume
python "$here/train.py" "${small[@]}" --out "$out/draft" --steps 40 --teacher "$out/main/model" --seed 1
"$program" complete --model "$out/main/model" --draft "$out/draft/model" 'def double(x):' -n 2 --max-tokens 8
