#!/bin/bash
# Tunes small models and evaluates them, on one machine with a GPU. In the repository's root:
#
#   benchmarks/gpu_tuning.sh train 0.5b-r8 0.5b-r32      in parallel, in the background; returns at once
#   benchmarks/gpu_tuning.sh wait SECONDS 0.5b-r8 …      until they are done, or the time is over
#   benchmarks/gpu_tuning.sh judge SECONDS 0.5b 0.5b-r8  one server each, all benchmarks, within the time;
#                                                        run again, it continues what was interrupted
#   benchmarks/gpu_tuning.sh pack FOLDER 0.5b-r8 …       splits adapters into small pieces
#
# A name is a size (0.5b or 1.5b) and, if it is tuned, the rank. Output goes into $RUNS:
# NAME/ as `omoide tune run` writes it, NAME/results/*.json of the benchmarks, with their logs.
# Set in the environment: GGUF05 and GGUF15 (the weights), DATA (data sets), INSTRUCTIONS (a
# folder with train.jsonl and held-out.jsonl). α is twice the rank: the paper uses 16 for every rank,
# which shrinks the updates of the larger ones, so that not only the rank differs.
set -u
RUNS=${RUNS:-$HOME/tuned}
PYTHON=${PYTHON:-python3}
RATE=${RATE:-2e-4} EPOCHS=${EPOCHS:-2} EVALUATE=${EVALUATE:-40} BATCH=${BATCH:-8} ACCUMULATE=${ACCUMULATE:-8} TOKENS=${TOKENS:-16384}
SERVER=${SERVER:-$(cd "$(dirname "$0")" && pwd)/gpu_server.py}
TRAIN_SECONDS=${TRAIN_SECONDS:-420} TUNE_MORE=${TUNE_MORE:-} SERVER_MORE=${SERVER_MORE:-}
SLOTS=${SLOTS:-160} WINDOW=${WINDOW:-4096} AT_ONCE=${AT_ONCE:-48}
MSC=${MSC:-100} MEMO=${MEMO:-100} GROUNDED=${GROUNDED:-60} UNKNOWN=${UNKNOWN:-160} RED=${RED:-}
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$RUNS"

weights() { case $1 in 0.5b*) echo "$GGUF05";; 1.5b*) echo "$GGUF15";; *) echo "$OTHER";; esac; }
rank() { case $1 in *-r*) echo "${1##*-r}";; *) echo 0;; esac; }
alpha() { echo $((2 * $(rank "$1"))); }

train_one() {  # NAME; runs in its own process
  local folder=$RUNS/$1
  mkdir -p "$folder"
  export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
  local full=()  # set the tokens per batch if this version of `tune run` supports it
  "$PYTHON" -m omoide.cli tune run --help | grep -q -- --tokens-per-batch \
    && full=(--tokens-per-batch "$TOKENS")
  # shellcheck disable=SC2086
  timeout $((TRAIN_SECONDS + 120)) "$PYTHON" -m omoide.cli tune run "$folder" --base "$(weights "$1")" \
    --train "$INSTRUCTIONS/train.jsonl" --held-out "$INSTRUCTIONS/held-out.jsonl" \
    --rank "$(rank "$1")" --alpha "$(alpha "$1")" --rate "$RATE" --epochs "$EPOCHS" \
    --batch "$BATCH" --accumulate "$ACCUMULATE" --evaluate "$EVALUATE" --patience 0 \
    --minutes "$(awk "BEGIN { print $TRAIN_SECONDS / 60 }")" "${full[@]}" $TUNE_MORE \
    > "$folder/train.log" 2>&1
  echo "ended with $?" >> "$folder/train.log"
  if [ -e "$folder/best/adapter_config.json" ] && [ ! -e "$folder/adapter.gguf" ]; then
    "$PYTHON" -m omoide.cli tune convert "$folder/best" "$folder/adapter.gguf" \
      --base "$(weights "$1")" >> "$folder/train.log" 2>&1
  fi
  touch "$folder/done"
}

train() {
  local copy=$RUNS/tree  # the code must not change during a run
  rm -rf "$copy.new"; mkdir -p "$copy.new"
  cp -r "$here/src" "$here/benchmarks" "$copy.new/"
  [ -e "$copy" ] || mv "$copy.new" "$copy"
  for name in "$@"; do
    rm -f "$RUNS/$name/done"
    PYTHONPATH=$copy/src:$copy/benchmarks:${PYTHONPATH:-} setsid "$copy/benchmarks/gpu_tuning.sh" \
      train_one "$name" > /dev/null 2>&1 < /dev/null &
    echo "training $name, alpha $(alpha "$name")"
  done
}

progress() {
  for name in "$@"; do
    [ -e "$RUNS/$name/train.log" ] || continue
    echo "$name: $(tail -n 1 "$RUNS/$name/train.log" | cut -c 1-160)"
    grep "held out" "$RUNS/$name/train.log" | tail -n 2 | cut -c 1-160
  done
}

wait_for() {  # SECONDS NAME...
  local until=$((SECONDS + $1)); shift
  for name in "$@"; do
    while [ ! -e "$RUNS/$name/done" ] && [ $SECONDS -lt $until ]; do sleep 2; done
  done
  progress "$@"
}

EXAMS="msc-small msc-paper memo memo-ja grounded quiet unknown redteam"

sat() {  # NAME EXAM: whether there is a complete result
  local file=$RUNS/$1/results/$2.json
  [ "$2" = redteam ] && [ -s "$file" ] || grep -qs '^ "complete": true' "$file"
}

finished() {  # NAME
  for exam in $EXAMS; do sat "$1" "$exam" || return 1; done
}

ask() {  # PORT NAME SECONDS EXAM ARGUMENTS...: one benchmark of one model
  local port=$1 name=$2 seconds=$3 exam=$4; shift 4
  local folder=$RUNS/$name/results
  sat "$name" "$exam" && return
  OMOIDE_MODEL="http://127.0.0.1:$port/v1#$name" OMOIDE_GRAMMAR=1 OMOIDE_REPLY_FORM=small \
    OMOIDE_WINDOW=$WINDOW timeout "$seconds" "$PYTHON" -m omoide.cli bench "$@" \
    --out "$folder/$exam.json" > "$folder/$exam.log" 2>&1
  echo "$name $exam: ended with $?"
}

exams() {  # PORT NAME SECONDS: all benchmarks of one model, in parallel
  local port=$1 name=$2 seconds=$3 folder=$RUNS/$2/results
  local minutes; minutes=$(awk "BEGIN { print 0.65 * $seconds / 60 }")  # the rest is for finishing
  local run="--data $DATA --concurrency $AT_ONCE --window $WINDOW --yes --no-plan --minutes $minutes"
  mkdir -p "$folder" "$RUNS/$name/texts"
  # shellcheck disable=SC2086
  {
    kept() { echo "--cache $RUNS/$name/$1.sqlite --keep-texts $RUNS/$name/texts/$1"; }
    msc="--only --embedder none --limit $MSC --set sessions=4,5 --set memory=only --set audit=yes"
    ask "$port" "$name" "$seconds" msc-small run msc --method summary $msc $run $(kept msc-small) &
    ask "$port" "$name" "$seconds" msc-paper run msc --method summary:paper $msc $run $(kept msc-paper) &
    ask "$port" "$name" "$seconds" memo run memo --method memochat --embedder none --limit "$MEMO" $run $(kept memo) &
    ask "$port" "$name" "$seconds" memo-ja run memo-ja --method memochat --embedder none --limit "$MEMO" $run $(kept memo-ja) &
    ask "$port" "$name" "$seconds" grounded run grounded --embedder none --limit "$GROUNDED" $run $(kept grounded) &
    ask "$port" "$name" "$seconds" quiet run quiet --only --method summary --embedder none $run $(kept quiet) &
    ask "$port" "$name" "$seconds" unknown run unknown --embedder none --limit "$UNKNOWN" --only $run $(kept unknown) &
    ask "$port" "$name" "$seconds" redteam redteam --concurrency 16 ${RED:+--only $RED} &
    wait
  }
}

judge() {  # SECONDS NAME...
  local end=$((SECONDS + $1)) port=${PORT:-8001} jobs=(); shift
  judged=("$@") running=()
  trap 'kill "${running[@]}" 2> /dev/null; sleep 1; kill -9 "${running[@]}" 2> /dev/null; gather "${judged[@]}"' EXIT
  for name in "$@"; do
    local adapter=()
    finished "$name" && { echo "$name is already evaluated"; continue; }
    if [ "$(rank "$name")" != 0 ]; then
      [ -e "$RUNS/$name/done" ] || { echo "$name is not trained yet"; continue; }
      [ -e "$RUNS/$name/best/adapter_config.json" ] || { echo "$name has no adapter"; continue; }
      adapter=(--adapter "$RUNS/$name/best")
    fi
    mkdir -p "$RUNS/$name/results"
    # shellcheck disable=SC2086
    "$PYTHON" "$SERVER" "$(weights "$name")" "${adapter[@]}" --port $port \
      --slots "$SLOTS" --window "$WINDOW" $SERVER_MORE > "$RUNS/$name/server.log" 2>&1 &
    running+=($!)
    {
      until curl -sf -o /dev/null "http://127.0.0.1:$port/v1/models"; do
        kill -0 "$!" 2> /dev/null || { echo "$name: no server"; tail -n 3 "$RUNS/$name/server.log"; exit; }
        [ $SECONDS -lt $end ] || exit
        sleep 1
      done
      echo "$name answers after $SECONDS s"
      exams $port "$name" $((end - SECONDS))
      curl -s "http://127.0.0.1:$port/metrics"; echo
    } &
    jobs+=($!)
    port=$((port + 1))
  done
  wait "${jobs[@]}"
}

gather() {  # NAME...: results and texts of these models into $OUT
  for name in "$@"; do progress "$name"; done
  [ -n "${OUT:-}" ] || return 0
  tar -C "$RUNS" -czf "$OUT/results-$1.tar.gz" \
    $(cd "$RUNS" && ls -d */results */train.log */run.json */server.log 2> /dev/null)
  tar -C "$RUNS" -czf "$OUT/texts-$1.tar.gz" $(cd "$RUNS" && ls -d */texts 2> /dev/null)
  ls -l "$OUT"
}

pack() {  # FOLDER NAME...: no piece over 15 MB
  local out=$1; shift
  for name in "$@"; do
    [ -e "$RUNS/$name/adapter.gguf" ] || { echo "$name has no adapter.gguf"; continue; }
    split -b 15000000 -d -a 2 "$RUNS/$name/adapter.gguf" "$out/$name.gguf."
    (cd "$RUNS/$name" && sha256sum adapter.gguf)
  done
  ls -l "$out"
}

verb=$1; shift
case $verb in
  train | train_one | judge | pack) "$verb" "$@" ;;
  wait) wait_for "$@" ;;
  progress | gather) "$verb" "$@" ;;
  *) echo "wanted train, wait, progress, judge, gather or pack, not $verb" >&2; exit 2 ;;
esac
