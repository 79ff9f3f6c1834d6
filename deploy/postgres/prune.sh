#!/bin/sh
# Lists the base backups, or deletes those that are not needed and the WAL before the oldest one that stays. docs/restore.md describes it.
# A restore to any time of the last KEEP_DAYS days stays possible: needed are the newest base backup that is older than that, if it is
# complete and the archive has all WAL after it, and all later ones.
#   DATA, BIN, BACKUP, ARCHIVE  as for recover.sh
#   KEEP_DAYS  the number of days
#   prune.sh list, prune.sh delete
set -eu
export LC_ALL=C
. "${0%/*}/archive.sh"

fail() {
  echo "FAILED: $1 No backup that can be restored was deleted." >&2
  exit 1
}

# $1 is the state of a base backup, $2 its folder.
describe() { printf '%-8s %s, which ended at %s\n' "$1" "$2" "$(date -u -d "@$(ended_at "$2")" +%Y-%m-%dT%H:%M:%SZ)"; }

# pg_basebackup writes this file last. A copy of the folder can only look younger, and is then kept for longer.
ended_at() { stat -c %Y "$1/backup_manifest"; }

assert_no_restore() {
  [ -z "${LOST:-}${REMAINDER:-}" ] && [ ! -e "$DATA.new" ] && [ ! -e "$DATA/restore.unfinished" ] && [ -z "$(ls -d "$DATA".lost-* 2>/dev/null)" ] ||
    fail "A restore has not ended: LOST or REMAINDER is set, or $DATA.new, $DATA.lost-* or $DATA/restore.unfinished exists. Complete it (step 9), and move the folder of the lost server to another place or delete it."
  [ "$(control "$DATA" 'Database cluster state')" = 'in production' ] || fail "PostgreSQL does not run on $DATA."
  [ "$(timeline_of "$DATA")" = "$1" ] ||
    fail "The server in $DATA has the timeline $(timeline_of "$DATA"), and the newest one of the archive is $1. Give the wrong one up, or correct ARCHIVE."
}

# Prints the first file of each timeline that continues another one, up to the timeline $1, oldest first: its location and the timeline.
beginnings_of() {
  { history_of "$1"; echo "$1"; } | {
    segment=''
    while read -r each location; do
      [ -z "$segment" ] || echo "$segment:$each"
      [ -z "$location" ] || segment=$(segment_at "$location" "$2")
    done
  }
}

# The archive must have each file from the one that the base backup $1 needs first to the newest one of the timeline $2.
assert_archived() {
  size=$(control "$1" 'Bytes per WAL segment')
  from=$(first_wal "$1")
  to=$(newest "$ARCHIVE" "$2")
  [ -n "$to" ] || fail "$ARCHIVE has no WAL file of the timeline $2."
  beginnings=$(beginnings_of "$2" "$size")
  # Those after the timeline of the backup.
  beginnings=${beginnings#*":${from%????????????????}"}
  per_log=$((0x100000000 / size))
  number_of() { low=${1#????????????????} high=${1#????????}; echo $((0x${high%????????} * per_log + 0x$low)); }
  missing=$(ls "$ARCHIVE" | awk -v timeline="${from%????????????????}" -v first="$(number_of "$from")" -v last="$(number_of "$to")" \
    -v per_log="$per_log" -v list="$(echo $beginnings)" '
    { has[$0] }
    END {
      count = split(list, beginnings, " ")
      for (number = first; number <= last; number++) {
        segment = sprintf("%08X%08X", int(number / per_log), number % per_log)
        while (next_one < count && substr(beginnings[next_one + 1], 1, 16) == segment) timeline = substr(beginnings[++next_one], 18)
        if (!((timeline segment) in has)) { print timeline segment; exit }
      }
    }')
  [ -z "$missing" ] ||
    fail "$ARCHIVE does not have $missing, so a restore from $1 would end before it. Find the file, or take a base backup and keep the older ones until it is older than $KEEP_DAYS days."
  short=$(find "$ARCHIVE" -maxdepth 1 -regextype posix-extended -regex '.*/[0-9A-F]{24}' ! -size "${size}c")
  [ -z "$short" ] || fail "These files are incomplete: $(echo $short). See 'wrong size' in the table of step 4."
}

# A number that begins with 0 would be octal.
case ${KEEP_DAYS:-} in '' | *[!0-9]* | 0* | ??????*) fail "KEEP_DAYS is '${KEEP_DAYS:-}', and must be a number of days, 1 or more, without a 0 at its beginning." ;; esac
case ${1:-} in list | delete) ;; *) fail "The argument is '${1:-}', and must be list or delete." ;; esac
for folder in "$BACKUP" "$ARCHIVE"; do ls "$folder" >/dev/null || fail "$folder cannot be read."; done
kept_remainder=${REMAINDER:-}
REMAINDER=$ARCHIVE
timeline=$(current_timeline)
REMAINDER=$kept_remainder
assert_no_restore "$timeline"
REMAINDER=$ARCHIVE
backups=$(base_backups)
[ -n "$backups" ] || fail "$BACKUP has no complete base backup."
for each in "$BACKUP"/base "$BACKUP"/base.[0-9]*T[0-9]*; do
  [ ! -e "$each" ] || printf '%s\n' "$backups" | grep -qxF "$each" ||
    fail "$each is not a complete base backup. If its files are not needed, delete it by hand."
done

# One word per base backup: when it ended, the first file that it needs without the timeline, and its folder.
rows=''
for each in $backups; do
  ended=$(ended_at "$each")
  segment=$(first_wal "$each" | cut -c 9-)
  case $ended:$segment in *[!0-9A-F:]* | :* | *:) fail "$each cannot be read." ;; esac
  rows="$rows $ended:$segment:$each"
done
ended_of() { echo "${1%%:*}"; }
segment_of() { set -- "${1#*:}" && echo "${1%%:*}"; }

edge=$(($(date +%s) - KEEP_DAYS * 86400))
# The one from which a restore to the first of these days begins: the newest that had ended then.
oldest=''
for row in $rows; do
  if [ "$(ended_of "$row")" -le "$edge" ] && is_usable "${row#*:*:}" "$timeline"; then
    [ -n "$oldest" ] && [ "$(segment_of "$oldest")" \> "$(segment_of "$row")" ] || oldest=$row
  fi
done
unneeded='' first=''
for row in $rows; do
  each=${row#*:*:}
  if [ -n "$oldest" ] && [ "$row" != "$oldest" ] && [ "$each" != "$BACKUP/base" ] && [ "$(ended_of "$row")" -le "$edge" ]; then
    unneeded="$unneeded $each"
    describe unneeded "$each"
  else
    [ -n "$first" ] && [ "$(segment_of "$first")" \< "$(segment_of "$row")" ] || first=$row
    if is_usable "$each" "$timeline"; then describe needed "$each"; else describe kept "$each"; fi
  fi
done
oldest=${oldest#*:*:}
first=$(first_wal "${first#*:*:}")
echo "unneeded $("$BIN/pg_archivecleanup" -n "$ARCHIVE" "$first" | wc -l) files of WAL before ${first#????????}"
if [ -z "$oldest" ]; then
  echo "No base backup of the timeline $timeline is older than $KEEP_DAYS days, so all base backups are needed."
else
  assert_archived "$oldest" "$timeline"
fi
[ "$1" = delete ] || exit 0

if [ -n "$unneeded" ]; then
  "$BIN/pg_verifybackup" --quiet --no-parse-wal "$oldest" || fail "$oldest is damaged, so the older ones are needed. Move it away, and paste again."
fi
for each in $unneeded; do
  # A folder that is deleted in part does not have the name of a base backup.
  rm -rf "$BACKUP/base.deleted" && mv -T "$each" "$BACKUP/base.deleted" && rm -rf "$BACKUP/base.deleted" ||
    fail "$each cannot be deleted completely."
done
as_postgres "$BIN/pg_archivecleanup" "$ARCHIVE" "$first" || fail "Files of WAL in $ARCHIVE cannot be deleted."
