#!/bin/sh
# Say something, end the session, and see it remembered. Needs a running `omoide serve`.
set -eu
url="${OMOIDE_URL:-http://127.0.0.1:8377}"
key="${OMOIDE_SERVER_KEY:-none}"
call() { curl --silent --show-error --fail-with-body -H "Authorization: Bearer $key" -H "Content-Type: application/json" "$@"; echo; }

call "$url/v1/chat/completions" -d '{
  "model": "omoide", "user": "ana",
  "messages": [{"role": "user", "content": "I have a cat called Miso."}]}'
call "$url/api/sessions/end?user=ana" -d '{}'
call --include "$url/v1/chat/completions" -d '{
  "model": "omoide", "user": "ana",
  "messages": [{"role": "user", "content": "What is my cat called?"}]}'
call "$url/api/recall?user=ana" -d '{"query": "cat", "k": 3}'
