# Functions that read WAL which a recovery did not use. recover.sh reads this file after archive.sh; docs/restore.md describes it.
# PostgreSQL takes the first record that it cannot read for the end of the WAL. Each page of WAL has its own location in it, so that pages that were
# written after that end are found. A file that PostgreSQL reuses still has the pages of its older location.
#   new, timeline, first, UNTIL  as in recover.sh
#   ended     the WAL location at which the recovery ended
#   recovered the time of the last recovered transaction in UTC, or nothing
#   REMAINDER in the folder that also has global/pg_control of the lost server, as it was then
#   size      the bytes of a WAL file
#   page      the bytes of a page of WAL
# It sets
#   accepted  to yes if WAL was not read and ACCEPT_LOSS_AFTER accepts that

# Prints a WAL location, such as 0/3A41000, with 16 hex digits, which sort.
digits() { segment_at "$1" 1; }

# Prints a time in UTC, so that times sort as texts.
utc() { date -u -d "$1" '+%Y-%m-%d %H:%M:%S.%6N'; }

# Prints the WAL location that is $2 bytes after the beginning of the file $1.
location_in() {
  name=${1#????????????????}
  log=${1#????????}
  printf '%X/%X' "0x${log%????????}" "$((0x$name * size + $2))"
}

# Prints the times of the commits in a WAL file, in UTC. $2 is the WAL location with which to begin, or nothing.
commits_in() {
  TZ=UTC as_postgres "$BIN/pg_waldump" --rmgr=Transaction ${2:+--start="$2"} "$1" 2>/dev/null |
    sed -n -E 's/.*desc: COMMIT[^ ]* ([0-9]+: )?([0-9-]+ [0-9:.]+) UTC.*/\2/p'
}

# Prints the names of the WAL files of the timeline $1 in the folders after it.
wal_files() {
  of=$1
  shift
  for folder; do ls "$folder" 2>/dev/null || true; done | grep -E "^$of[0-9A-F]{16}\$" | sort -u
}

# Reads a WAL file from the location on at which the recovery ended. $1 is its path, $2 that location in bytes after its beginning, or -1 if the whole file
# is later, $3 the most bytes to read.
# Prints three words: how many later pages have the end of a record or begin one, the offset of the first of them or -1, and what follows that location
# on its page: "nothing", "record" if a record begins that continues after the file, "page" if one continues on the next page, or else "bytes".
# The words of 4 bytes of a page header are the kind of page, its timeline, its location in two words, and how much of a record of the page before is left.
unread_pages() {
  path=${1##*/}
  log=${path#????????}
  od -A d -t x4 -v -w"$page" -j "$(($2 / page * page))" -N "$3" "$1" | awk -v timeline="${path%????????????????}" -v log_number="${log%????????}" \
    -v begin="$((0x${path#????????????????} * size))" -v page="$page" -v from="$2" -v size="$size" '
    function hex(text,   value, i) {
      for (value = i = 0; i++ < length(text); ) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
      return value
    }
    # Eight digits and a blank per word follow the offset of the line.
    function word(offset) { return substr($0, start + offset / 4 * 9, 8) }
    function header(at) { return at % size ? 24 : 40 }
    BEGIN { pages = 0; first = -1; rest = "nothing" }
    {
      start = index($0, " ") + 1
      at = substr($0, 1, start - 2) + 0
      if (word(4) != tolower(timeline) || word(12) != tolower(log_number) || hex(word(8)) != begin + at) next
      if (at <= from) {
        record = from == at ? header(at) : from - at
        bytes = hex(word(record))
        # More than a gibibyte is no record.
        if (bytes > 1073741824) rest = "bytes"
        else if (at + record + bytes + 24 * int(bytes / page) > size) rest = "record"
        else if (record + bytes > page) rest = "page"
        else if (substr($0, start + record / 4 * 9) ~ /[1-9a-f]/) rest = "bytes"
        next
      }
      continues = hex(substr(word(0), 8, 1)) % 2
      if (continues ? header(at) + hex(word(16)) > page : word(header(at)) == "00000000") next
      if (!pages++) first = at
    }
    END { if (!NR) exit 1; print pages, first, rest }'
}

# Whether the first page of the WAL file $1 has the location that its name says. A file that was only prepared has zeros or older pages.
begins_itself() {
  path=${1##*/}
  log=${path#????????}
  set -- $(od -A n -t x4 -v -N 40 "$1")
  [ "$#" = 10 ] && [ "$((0x$2))" -le "$((0x${path%????????????????}))" ] && [ "$((0x$3))" = "$((0x${path#????????????????} * size))" ] &&
    [ "$((0x$4))" = "$((0x${log%????????}))" ] && [ "$((0x$9))" = "$size" ]
}

# Prints the name of the last WAL file that the lost server of the timeline $1 has written, if it is too short: its disk has lost the end.
short_last_file() {
  for name in $(wal_files "$1" "$REMAINDER" | sort -r); do
    bytes=$(stat -c %s "$REMAINDER/$name")
    if begins_itself "$REMAINDER/$name"; then
      [ "$bytes" -ge "$size" ] || [ -e "$ARCHIVE/$name" ] || echo "$name"
      return 0
    fi
    [ "$bytes" = "$size" ] || return 0
  done
}

# Prints each WAL file that has WAL which the recovery did not read, and the location with which that begins.
# A server that is killed leaves the beginning of a record, but not its end: it writes the pages in their order.
unread_files() {
  end_segment=$timeline$(segment_at "$ended" "$size")
  offset=$((0x${ended#*/} % size))
  for name in $(wal_files "$timeline" "$ARCHIVE" "$REMAINDER"); do
    [ ! "$name" \< "$end_segment" ] || continue
    # No page of a later file was read.
    from=-1 limit=65536
    [ "$name" != "$end_segment" ] || { from=$offset limit=$size; }
    found=$(unread_pages "$(find_wal "$name")" "$from" "$limit") || fail "The file $name cannot be read."
    set -- $found
    if [ "$1" != 0 ]; then
      echo "$name $(location_in "$name" "$2")"
    # The files of the archive are complete: what they have is followed by the next file.
    elif [ -e "$ARCHIVE/$name" ] && { [ "$from" -le 0 ] || [ "$3" != record ]; }; then
      echo "$name $(location_in "$name" "$((from < 0 ? 0 : from))")"
    elif [ "$name $3" = "$end_segment bytes" ]; then
      echo "WARNING: The last page of WAL has bytes after $ended that are no record. A server that was killed while it wrote leaves such bytes, and nothing acknowledged is missing then. If its disk is damaged, up to $page bytes of WAL are missing: compare the last rows with the logs of the service." >"$new/warning"
    fi
  done
}

# Fails if WAL exists after the location at which the recovery ended.
assert_all_was_read() {
  for line in 'Latest checkpoint location' 'Minimum recovery ending location'; do
    [ -n "${LOST:-}" ] && [ "$(timeline_of "${REMAINDER%/pg_wal}")" = "$timeline" ] || continue
    location=$(control "${REMAINDER%/pg_wal}" "$line")
    [ -z "$location" ] || [ "$(digits "$location")" \< "$(digits "$ended")" ] ||
      reject_loss "the lost server had written WAL up to $location"
  done
  unread=$(unread_files)
  [ -n "$unread" ] || { assert_no_gap; warn_of_later_writes; return 0; }
  newest=$(printf '%s\n' "$unread" | while read -r name location; do commits_in "$(find_wal "$name")" "$location"; done | sort | tail -n 1)
  reject_loss "WAL after it exists in $(echo $(printf '%s\n' "$unread" | cut -d' ' -f1))${newest:+, with transactions until $newest+00}"
}

# More than the time in which an idle server writes WAL without a transaction: it logs a snapshot after 15 seconds.
quiet_seconds=60

# Warns if the last WAL file of the lost server was written long after the newest time that the recovery knows. Zeros at its end look like
# the end of the WAL. Only the time of the file shows that later pages existed; a copy has the time of the copying.
warn_of_later_writes() {
  [ -n "${LOST:-}" ] && [ ! -e "$new/warning" ] || return 0
  last=$REMAINDER/$timeline$(segment_at "$ended" "$size")
  [ -e "$last" ] || return 0
  # pg_controldata writes it without a zone.
  checkpoint=$(export TZ=UTC; control "${REMAINDER%/pg_wal}" 'Time of latest checkpoint')
  [ -z "$checkpoint" ] || checkpoint=$(utc "$checkpoint")
  known=$(printf '%s\n' "$recovered" "$checkpoint" | sort | tail -n 1)
  [ -n "$known" ] || return 0
  written=$(stat -c %Y "$last")
  [ "$((written - $(date -u -d "$known+00" +%s)))" -gt "$quiet_seconds" ] || return 0
  echo "WARNING: The file $last was written until $(date -u -d "@$written" '+%Y-%m-%d %H:%M:%S')+00, and the newest time that the recovery found in the WAL is $known+00. If the file was not copied since, zeros at its end hide transactions: compare with the logs of the service (step 7)." >"$new/warning"
}

# Fails if the file at the end of the recovery is missing and a later one exists: a server that ran has the file in which it wrote, and
# perhaps later ones that were prepared for it.
assert_no_gap() {
  needed=$timeline$(segment_at "$ended" "$size")
  later=$(wal_files "$timeline" "$REMAINDER" | tail -n 1)
  [ -n "$(find_wal "$needed")" ] || [ ! "$later" \> "$needed" ] ||
    reject_loss "the file $needed is missing, and a later one, $later, exists"
}

# Fails, unless ACCEPT_LOSS_AFTER has the location at which the recovery ended. $1 says which WAL was not read.
reject_loss() {
  why="The recovery ended at $ended, after the transaction of ${recovered:-the base backup}${recovered:++00}, but $1."
  [ "${ACCEPT_LOSS_AFTER:-}" != "$ended" ] || { accepted=yes && echo "WARNING: $why It is lost, as ACCEPT_LOSS_AFTER says." >"$new/warning"; return 0; }
  damaged=$timeline$(segment_at "$ended" "$size")
  found=$(find_wal "$damaged")
  fail "$why The file $damaged is missing or damaged there${found:+ ($found)}. Find a better copy of it, and move the damaged one away. If there is none, paste the block again with ACCEPT_LOSS_AFTER='$ended' before UNTIL: then everything after that is lost. (After a loss of power the disk may have pages that were written after one that is missing: then nothing acknowledged is lost.)"
}

# Fails if transactions before UNTIL are only on the part of an older timeline after which a recovered server began its own: they were committed by then,
# and the recovery went past them into the newer timeline, which had nothing yet at that time.
assert_nothing_left_behind() {
  wanted=$(utc "$UNTIL")
  started=$(sed -n 's/^START WAL LOCATION: \([0-9A-F/]*\) .*/\1/p' "$BASE/backup_label")
  later=$(ancestors_of "$timeline")
  later="$(echo $later) $timeline"
  history_of "$timeline" | while read -r each location; do
    later=${later#"$each "}
    # The recovery did not come to the newer timeline, or began in it.
    [ ! "$(digits "$ended")" \< "$(digits "$location")" ] && [ ! "$(digits "$location")" \< "$(digits "$started")" ] || continue
    missing=$(left_behind "$each" "$location")
    [ -z "$missing" ] || fail_left_behind "$each" "$location" "$later" "$missing"
  done
}

# Prints the times of the transactions of the timeline $1 after the location $2 that are later than the last recovered one, until UNTIL.
left_behind() {
  begin=$1$(segment_at "$2" "$size")
  files=$(wal_files "$1" "$ARCHIVE" "$REMAINDER" "$DATA".lost-*/pg_wal)
  # Usually the newest one is older than the work of the newer timeline.
  for name in $(printf '%s\n' "$files" | sort -r); do
    newest_one=$(left_in "$name" | sort | tail -n 1)
    [ -z "$newest_one" ] || break
  done
  [ "${newest_one:-}" \> "$recovered" ] || return 0
  for name in $files; do
    times=$(left_in "$name" | sort)
    printf '%s\n' "$times" | awk -v after="$recovered" -v until="$wanted" '$0 > after && $0 <= until'
    [ ! "$(printf '%s\n' "$times" | tail -n 1)" \> "$wanted" ] || break
  done
}

# Prints the times of the commits of the file $1 that were left behind. The variables are those of left_behind, whose $2 is `location`.
left_in() {
  [ ! "$1" \< "$begin" ] || return 0
  path=$(find_wal "$1")
  for folder in "$DATA".lost-*/pg_wal; do [ -n "$path" ] || [ ! -e "$folder/$1" ] || path=$folder/$1; done
  from=''
  [ "$1" != "$begin" ] || from=$location
  commits_in "$path" "$from"
}

# $1 is the older timeline, $2 the location after which it was left, $3 the newer ones, $4 the times.
fail_left_behind() {
  remainder=$ARCHIVE
  for folder in "$DATA".lost-*/pg_wal; do
    [ ! -e "$folder" ] || [ "$(newest "$folder" '' | cut -c 1-8)" != "$1" ] || remainder=$folder
  done
  commands="export REMAINDER=$remainder"
  for each in $(printf '%s\n' $3 | sort -r); do
    [ -z "$(newest "$ARCHIVE" "$each")" ] && [ ! -e "$ARCHIVE/$each.history" ] || commands="$commands, paste the block give-up-timeline with $each"
  done
  lost_servers=''
  for folder in "$DATA".lost-*; do
    [ -e "$folder/pg_wal" ] || continue
    of=$(newest "$folder/pg_wal" '' | cut -c 1-8)
    for each in $1 $3; do [ "$of" != "$each" ] || lost_servers="$lost_servers $folder"; done
  done
  fail "At the time $UNTIL two servers count. The timeline ${3%% *} began at $2 after the transaction of ${recovered:-the base backup}${recovered:++00}, and has no transaction of its own until your time. The timeline $1, which was left there, has $(printf '%s\n' "$4" | wc -l) more until your time: from $(printf '%s\n' "$4" | sort | head -n 1)+00 to $(printf '%s\n' "$4" | sort | tail -n 1)+00. Choose. (1) Without them, as the timeline ${3%% *} began: paste this block with UNTIL='${recovered:-a time before them}${recovered:++00}'. (2) With them, and without all work of the timeline $(printf '%s\n' $3 | tail -n 1): $commands, and paste this block again. Then both lost servers count in step 7:${lost_servers:- their folders are gone}."
}
