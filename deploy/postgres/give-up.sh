#!/bin/sh
# Gives up a timeline, as docs/restore.md describes: no later restore uses it. Run it as root or as the account of PostgreSQL.
# The files of the archive stay. A file <timeline>.given-up in the archive is the mark.
#   DATA, CONFIG, BIN, ARCHIVE, REMAINDER  as for recover.sh
#   GIVE_UP_WORK_OF  the timeline of a recovered server on which the service has started, if its work is to be given up
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

# Executes a statement on the server in DATA, which is stopped, in the database $1. The statement $2 is one line. Prints what PostgreSQL prints.
ask() {
  config=${CONFIG:-$DATA}
  printf '%s\n' "$2" | (cd / && as_postgres "$BIN/postgres" --single -D "$DATA" -c config_file="$config/postgresql.conf" -c data_directory="$DATA" \
    -c logging_collector=off -c log_destination=stderr -c timezone=UTC -c datestyle=ISO "$1") || fail "PostgreSQL cannot read the database $1 in $DATA."
}

# Prints the value of the column $1 in each row of what PostgreSQL prints in single-user mode.
values_of() { sed -n -E "s/^.*[[:space:]]1: $1 = \"(.*)\"[[:space:]]+\(typeid = .*/\1/p"; }

# Fails if a server or a worker of the service has started since the recovery, which wrote restore.unfinished: it records itself in its database.
assert_no_work() {
  recovered=$(stat -c %Y "$DATA/restore.unfinished")
  databases=$(ask template1 'select datname from pg_database where datallowconn') || exit 1
  databases=$(printf '%s\n' "$databases" | values_of datname)
  printf '%s\n' "$databases" | grep -qx template1 || fail "The databases of $DATA cannot be listed."
  for database in $databases; do
    answer=$(ask "$database" "do \$\$ declare each text; seen timestamptz; newest timestamptz := to_timestamp($recovered); begin foreach each in array array['deployments', 'processes'] loop if to_regclass('installation.' || each) is not null then execute format('select max(seen_at) from installation.%I', each) into seen; newest := greatest(newest, seen); end if; end loop; perform set_config('crossdock.seen', case when newest > to_timestamp($recovered) then newest::text else 'never' end, false); end \$\$; select current_setting('crossdock.seen') as seen") || exit 1
    seen=$(printf '%s\n' "$answer" | values_of seen)
    case $seen in
      never) ;;
      '') fail "Whether the service has started on the database $database cannot be read." ;;
      *) fail "The service has started on this server since it was recovered: the database $database was used at least until $seen, and perhaps for some seconds more. All work since the recovery would be lost. To keep it, start PostgreSQL again and go on with step 7. If it is a new lost server, delete $DATA/restore.unfinished, unset LOST REMAINDER, and put it aside (step 2). To lose that work, paste this block with GIVE_UP_WORK_OF=$timeline before sh." ;;
    esac
  done
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
  [ "${GIVE_UP_WORK_OF:-}" = "$timeline" ] || assert_no_work
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
