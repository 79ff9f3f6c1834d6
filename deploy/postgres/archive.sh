# Functions about base backups and the timelines of the archive. The scripts of this folder read it; docs/restore.md describes them.
# A timeline is written as in the names of its files, with 8 hex digits. No restore uses one that has a file <timeline>.given-up in the archive.

# PostgreSQL refuses to run as root.
as_postgres() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }

# Prints a line of pg_controldata. $1 is the data folder, $2 the name of the line.
control() { "$BIN/pg_controldata" -D "$1" | sed -n "s/^$2: *//p"; }

# Prints the timeline of the server in the folder $1.
timeline_of() { printf '%08X' "$(control "$1" "Latest checkpoint's TimeLineID")"; }

# Prints the name of the newest WAL file in a folder. $2 is the beginning of the name.
newest() { ls "$1" | grep -E "^$2[0-9A-F]{$((24 - ${#2}))}\$" | tail -n 1; }

is_given_up() { [ -e "$ARCHIVE/$1.given-up" ]; }

# Prints the path of a file of the archive, or else of the lost server; nothing if neither has it.
find_wal() {
  for folder in "$ARCHIVE" "$REMAINDER"; do
    [ ! -e "$folder/$1" ] || { printf '%s' "$folder/$1"; return; }
  done
}

# Prints the timelines that a timeline continues, oldest first, each with the WAL location at which it ended.
history_of() {
  history=$(find_wal "$1.history")
  [ -z "$history" ] || sed -n -E 's/^[[:space:]]*([0-9]+)[[:space:]]+([0-9A-F]+\/[0-9A-F]+).*/\1 \2/p' "$history" |
    while read -r number location; do printf '%08X %s\n' "$number" "$location"; done
}

ancestors_of() { history_of "$1" | cut -d' ' -f1; }

# Prints the timelines of which the archive or the lost server has a file, except those that were given up.
present_timelines() {
  { ls "$ARCHIVE"; ls "$REMAINDER"; } | sed -n -E 's/^([0-9A-F]{8})([0-9A-F]{16}|\.history)$/\1/p' | sort -u |
    while read -r each; do is_given_up "$each" || echo "$each"; done
}

# Prints the timelines that no other one continues. Work goes on in exactly one of them.
latest_timelines() {
  present=$(present_timelines)
  continued=$(for each in $present; do ancestors_of "$each"; done)
  for each in $present; do
    printf '%s\n' "$continued" | grep -qxF "$each" || echo "$each"
  done
}

# Prints the timeline in which the work goes on.
current_timeline() {
  latest=$(latest_timelines)
  case $latest in
    '')
      [ "$ARCHIVE" != "$REMAINDER" ] || fail "$ARCHIVE has no WAL file. Is the archive mounted?"
      fail "Neither $ARCHIVE nor $REMAINDER has a WAL file. Is the archive mounted?"
      ;;
    *[!0-9A-F]*) fail "$ARCHIVE has the timelines $(echo $latest), and none of them continues another. Give up each one whose work must not be restored, with the block give-up-timeline. If one of them is 00000001, a file .history may be missing instead." ;;
  esac
  for each in $(ancestors_of "$latest"); do
    ! is_given_up "$each" || fail "The timeline $latest continues $each, which was given up. Give it up too, with the block give-up-timeline, or delete $ARCHIVE/$each.given-up if that was a mistake."
  done
  printf '%s' "$latest"
}

# Prints the part of a WAL file's name that follows the timeline. $1 is a WAL location, $2 the size of the files.
segment_at() { printf '%08X%08X' "$((0x${1%/*}))" "$((0x${1#*/} / $2))"; }

# Prints the first WAL file that a base backup needs.
first_wal() { sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$1/backup_label"; }

# Whether the base backup $1 belongs to the history of the timeline $2. One of an older timeline ended before that one did.
is_usable() {
  started_in=$(first_wal "$1" | cut -c 1-8)
  [ "$started_in" != "$2" ] || return 0
  backup_end=$(sed -n 's/.*"End-LSN": "\([0-9A-F/]*\)".*/\1/p' "$1/backup_manifest" | tail -n 1)
  timeline_end=$(history_of "$2" | sed -n "s/^$started_in //p")
  [ -n "$backup_end" ] && [ -n "$timeline_end" ] || return 1
  [ "$(for each in "$backup_end" "$timeline_end"; do segment_at "$each" 1; echo; done | sort | head -n 1)" = "$(segment_at "$backup_end" 1)" ]
}

is_base_backup() { [ -s "$1/backup_label" ] && [ -s "$1/backup_manifest" ]; }

# Prints the complete base backups, newest first. The time in a name says when the next one began.
base_backups() {
  for each in "$BACKUP/base" $(ls -d "$BACKUP"/base.[0-9]*T[0-9]* 2>/dev/null | sort -r); do
    ! is_base_backup "$each" || echo "$each"
  done
}

# Prints the base backups that can be restored to a time of the timeline $1.
usable_backups() { base_backups | while read -r each; do ! is_usable "$each" "$1" || echo "$each"; done; }

# Prints the time in a line of a backup_label or of its history file, in seconds as if it were in UTC. $1 is the name of the line, $2 the file.
local_time() {
  text=$(sed -n -E "s/^$1 TIME: ([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}) .*/\\1/p" "$2")
  [ -z "$text" ] || date -u -d "$text" +%s
}

# Prints from when on a base backup can be restored, in seconds since 1970. It has transactions until then, whatever the time of a restore is.
# The WAL during the backup is read too, and PostgreSQL refuses a time that lies before a transaction in it. So the beginning is enough if the archive does
# not have the end (<first file>.<offset>.backup). The times have no fractions: a second later, the second of the beginning is over.
restorable_from() {
  [ -e "$1/backup_label" ] && began=$(local_time START "$1/backup_label") && [ -n "$began" ] || { stat -c %Y "$1/backup_manifest"; return; }
  location=$(sed -n 's/^START WAL LOCATION: \([0-9A-F/]*\) .*/\1/p' "$1/backup_label")
  history=$(find_wal "$(first_wal "$1").$(printf %08X "$((0x${location#*/} % $(control "$1" 'Bytes per WAL segment')))").backup")
  stopped=''
  [ -z "$history" ] || [ "$(local_time START "$history")" != "$began" ] || stopped=$(local_time STOP "$history")
  # Abbreviations of zones are ambiguous. The manifest has the time in GMT at which backup_label was sent, within seconds of its own time.
  sent=$(sed -n 's/.*"Path": "backup_label".*"Last-Modified": "\([^"]* GMT\)".*/\1/p' "$1/backup_manifest")
  [ -z "$sent" ] || sent=$(date -u -d "$sent" +%s)
  zone=$(((began - ${sent:-$began} + 86850) / 900 * 900 - 86400))
  [ "${stopped:-0}" -gt "$began" ] || stopped=$((began + 1))
  echo "$((stopped - zone))"
}

# Prints seconds since 1970 as PostgreSQL reads a time.
time_of() { date -u -d "@$1" '+%Y-%m-%d %H:%M:%S+00'; }

# Prints the newest base backup that can be restored to a time of the timeline $1. $2 is the time in seconds since 1970, without fractions.
newest_backup_before() {
  usable_backups "$1" | while read -r each; do
    from=$(restorable_from "$each") && [ "$from" -le "$2" ] && echo "$from $each" || :
  done | sort -n | tail -n 1 | cut -d' ' -f2-
}

# Where a timeline begins, PostgreSQL would go on with the files of the older one if the first file of the newer one is missing.
# $1 is the timeline, $2 the first file that is needed, $3 the size of the files.
assert_beginnings() {
  later=$(ancestors_of "$1")
  later="$(echo $later) $1"
  history_of "$1" | while read -r ended location; do
    later=${later#"$ended "}
    segment=$(segment_at "$location" "$3")
    [ "$(printf '%s\n' "${2#????????}" "$segment" | sort | tail -n 1)" = "$segment" ] || continue
    found=''
    for each in $later; do found=$found$(find_wal "$each$segment"); done
    [ -n "$found" ] || fail "The file ${later%% *}$segment is missing, with which the timeline ${later%% *} begins. Find it, or use a newer base backup. If the block start had not ended with OK, nothing of that timeline was archived: give up $1 with the block give-up-timeline, and recover to the same time again."
  done
}
