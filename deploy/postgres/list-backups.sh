#!/bin/sh
# Lists to which times each base backup can be restored, as docs/restore.md describes. It changes nothing.
#   DATA, BIN, BACKUP, ARCHIVE  as for recover.sh
#   REMAINDER  the pg_wal of the lost server; empty or the same as ARCHIVE if it is lost
set -eu
export LC_ALL=C
REMAINDER=${REMAINDER:-$ARCHIVE}
. "${0%/*}/archive.sh"
. "${0%/*}/wal-records.sh"

fail() {
  echo "FAILED: $1 Nothing was changed." >&2
  exit 1
}

for folder in "$BACKUP" "$ARCHIVE" "$REMAINDER"; do ls "$folder" >/dev/null || fail "$folder cannot be read."; done
timeline=$(current_timeline)
backups=$(base_backups)
[ -n "$backups" ] || fail "$BACKUP has no complete base backup."
until=''
for name in $(wal_files "$timeline" "$ARCHIVE" "$REMAINDER" | sort -r); do
  until=$(commits_in "$(find_wal "$name")" | sort | tail -n 1)
  [ -z "$until" ] || break
done
for each in $backups; do
  if is_usable "$each" "$timeline"; then
    from=$(restorable_from "$each") && [ -n "$from" ] || fail "When $each ended cannot be read."
    if [ -z "$until" ] || [ "$(date -u -d "$until+00" +%s)" -lt "$from" ]; then
      echo "BASE='$each' restores to the end of the WAL only, without UNTIL: the WAL has no transaction after $(time_of "$from"), when it ended"
    else
      echo "BASE='$each' restores to times from $(time_of "$from") until $until+00, the newest transaction in the WAL"
    fi
  else
    echo "$each restores to no time: it does not belong to the history of the timeline $timeline"
  fi
done
