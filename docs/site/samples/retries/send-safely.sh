# Sends a POST request until the response is final, at most five times, and prints its JSON.
# Create one key for each change that you intend, and store it with the change.
# Usage: send_safely KEY URL [options of curl]
send_safely() {
  key=$1
  shift
  attempt=1
  started_at=$(date +%s)
  json=$(mktemp)
  headers=$(mktemp)
  while :; do
    : >"$json" >"$headers"
    # curl fails if the response is not whole. --max-time is for the whole response.
    status=$(curl -sS --connect-timeout 10 --max-time "${LIMIT:-30}" -o "$json" -D "$headers" -w '%{http_code}' \
      -H "Idempotency-Key: $key" "$@") || status=none
    is_whole_json "$json" || status=none
    case $status in
      none | 408 | 429 | 500 | 502 | 503 | 504 | 520 | 521 | 522 | 523 | 524 | 525 | 526 | 527 | 530) ;;
      409) grep -q '"code":"idempotency_in_progress"' "$json" || break ;;
      *) break ;;
    esac
    # Retry-After is a number of seconds or a date.
    after=$(tr -d '\r' <"$headers" | sed -n 's/^[Rr]etry-[Aa]fter: *//p' | tail -n 1)
    case $after in
      *[!0-9]*) after=$(($(date -d "$after" +%s 2>/dev/null || date +%s) - $(date +%s))) ;;
    esac
    random=$(od -An -N2 -tu2 /dev/urandom)
    pause=$(awk -v n="$attempt" -v random="$random" -v after="${after:-0}" \
      'BEGIN { pause = 2 ^ (n - 1) * (0.5 + random / 131072); print (pause > after ? pause : after) }')
    left=$((150 - $(date +%s) + started_at))
    if [ "$attempt" = 5 ] || [ "${after:-0}" -gt 60 ] || [ "${pause%.*}" -ge "$left" ]; then
      [ "$status" != none ] || echo 'No whole response. Send the same request with the same key again later.' >&2
      break
    fi
    sleep "$pause"
    attempt=$((attempt + 1))
  done
  [ "$status" = none ] || cat "$json"
  rm -f "$json" "$headers"
  case $status in 2*) ;; *) return 1 ;; esac
}

# Every response of the service is a JSON object with a status. Anything else is not whole, or comes from a proxy. A whole object has as many
# closing braces as opening ones, and no quotation mark without a partner.
is_whole_json() {
  grep -Eq '"status": ?"(success|fail|error)"' "$1" || return 1
  sed 's/\\.//g; s/"[^"]*"//g' "$1" | awk '
    NR == 1 && !/^{/ || /"/ { broken = 1 }
    { opened += gsub(/{/, ""); closed += gsub(/}/, "") }
    END { exit broken || opened == 0 || opened != closed }'
}
