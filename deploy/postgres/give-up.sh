#!/bin/sh
# Gives up a timeline, as docs/restore.md describes: no later restore uses it. Run it as root or as the account of PostgreSQL.
# The files of the archive stay. A file <timeline>.given-up in the archive is the mark.
#   DATA, BIN, ARCHIVE, REMAINDER  as for recover.sh
#   give-up.sh server               gives up the recovered server in DATA, and renames its folder
#   give-up.sh timeline 0000000A    gives up a timeline whose server is gone
set -eu
export LC_ALL=C
REMAINDER=${REMAINDER:-}
. "${0%/*}/archive.sh"

fail() {
  echo "FAILED: $1 Nothing was given up." >&2
  exit 1
}

# The history stays in the archive, or the next recovery would use the number again. $1 is the timeline, $2 the file of its history or nothing.
mark() {
  as_postgres sh -eu -c '
    test -e "$1.history" || { if test -n "$2"; then cp "$2" "$1.history.new"; else echo "# given up" >"$1.history.new"; fi
      sync "$1.history.new"; mv "$1.history.new" "$1.history"; }
    date >"$1.given-up.new"; sync "$1.given-up.new"; mv "$1.given-up.new" "$1.given-up"' sh "$ARCHIVE/$1" "$2" ||
    fail "The account postgres cannot write to $ARCHIVE."
}

give_up_server() {
  [ -e "$DATA/global/pg_control" ] || fail "$DATA is no data folder. To give up a server whose folder is gone, use the block give-up-timeline."
  [ -e "$DATA/restore.unfinished" ] ||
    fail "$DATA is not a server that was recovered and whose restore continues. If it is lost, put it aside (step 2)."
  result=0
  as_postgres "$BIN/pg_ctl" -D "$DATA" status || result=$?
  [ "$result" = 3 ] || fail "PostgreSQL still runs on $DATA. Stop it."
  state=$(control "$DATA" 'Database cluster state')
  [ "$state" = 'shut down' ] ||
    fail "The server in $DATA was not stopped, but ended ($state). If people have worked on it, it is a new lost server: delete $DATA/restore.unfinished, unset LOST REMAINDER, and put it aside (step 2). If nobody has, start and stop it, and paste again. If it does not start, rename its folder, and use the block give-up-timeline."
  timeline=$(timeline_of "$DATA")
  [ -e "$DATA/pg_wal/$timeline.history" ] || fail "The file $DATA/pg_wal/$timeline.history is missing."
  mark "$timeline" "$DATA/pg_wal/$timeline.history"
  mv -T "$DATA" "$DATA.given-up-$(date +%Y%m%dT%H%M%S)" || fail "$DATA cannot be renamed."
}

give_up_timeline() {
  REMAINDER=${REMAINDER:-$ARCHIVE}
  present=$(present_timelines)
  printf '%s\n' "$present" | grep -qxF "$timeline" ||
    fail "$ARCHIVE has no timeline '$timeline' that could be given up. It has: $(echo $present)."
  [ ! -e "$DATA/global/pg_control" ] || [ "$(timeline_of "$DATA")" != "$timeline" ] ||
    fail "The server in $DATA has the timeline $timeline. Give it up with the block give-up."
  [ "$REMAINDER" = "$ARCHIVE" ] || [ "$(newest "$REMAINDER" '' | cut -c 1-8)" != "$timeline" ] ||
    fail "The lost server has the timeline $timeline. Its work would be lost."
  for each in $present; do
    ! ancestors_of "$each" | grep -qxF "$timeline" ||
      fail "The timeline $each continues $timeline, and would be lost with it. Give up $each first, if its work must not be restored."
  done
  mark "$timeline" ''
}

timeline=${2:-}
"give_up_$1"
echo "The timeline $timeline is given up. If that was a mistake, delete $ARCHIVE/$timeline.given-up."
