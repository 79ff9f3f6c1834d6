#!/bin/sh
# Recovers a PostgreSQL server from a base backup and its WAL, as docs/restore.md describes. Run it as root or as the account of PostgreSQL.
#   DATA       the data folder. It must not exist: this script creates it when the recovery has succeeded, and not before.
#   CONFIG     the folder of postgresql.conf; the same as DATA if it is in the data folder
#   BIN        the folder of PostgreSQL's programs
#   BASE       the base backup; with UNTIL one that ended before that time
#   BACKUP     the folder of the base backups, of which an error names another one
#   ARCHIVE    the folder of the archived WAL
#   LOST       the folder of the lost server; empty if it is lost
#   REMAINDER  its pg_wal, which has what was not archived; the same as ARCHIVE if it is lost
#   UNTIL      the time, with its zone; empty to recover everything
#   ACCEPT_LOSS_AFTER  the WAL location after which a file is missing or damaged, if that loss is accepted
set -eu
export LC_ALL=C
new=$DATA.new
log=$DATA.log
. "${0%/*}/archive.sh"
. "${0%/*}/wal-records.sh"

fail() {
  echo "FAILED: $1 Nothing is recovered, and nothing but $new was changed." >&2
  exit 1
}

# A base backup has all transactions until it ended. PostgreSQL would recover to its end and report success for an earlier time. $1 is the time.
assert_ended_before() {
  wanted=$(date -u -d "$1" +%s) || fail "The time '$1' cannot be read. Write it like 2026-11-23 21:34:17+00."
  from=$(restorable_from "$BASE") && [ -n "$from" ] || fail "When the base backup $BASE ended cannot be read."
  [ "$wanted" -lt "$from" ] || return 0
  older=$(newest_backup_before "$timeline" "$wanted")
  [ -z "$older" ] || fail "The base backup $BASE can only be restored to times from $(time_of "$from") on, and has later rows than those of $1. The newest one for your time is $older, for times from $(time_of "$(restorable_from "$older")") on: paste this block again with BASE='$older'."
  fail "The base backup $BASE can only be restored to times from $(time_of "$from") on, and has later rows than those of $1. $BACKUP has no base backup for your time: find an older one, or load a dump that was written before (Restore one database)."
}

# PostgreSQL does not read Z.
case $UNTIL in *Z) UNTIL=${UNTIL%Z}+00 ;; esac
case $UNTIL in
  '' | *:*[+-][0-9][0-9] | *:*[+-][0-9][0-9]:[0-9][0-9] | *:*' UTC') ;;
  *) fail "The time '$UNTIL' has no zone. Write it like 2026-11-23 21:34:17+00, or nothing to recover everything." ;;
esac
[ ! -e "$DATA" ] || fail "$DATA exists. Put the lost server aside first."
[ -n "${REMAINDER:-}" ] || fail 'No lost server was put aside (step 2). In a new terminal, paste what step 2 printed after OK.'
if [ -n "${LOST:-}" ] && [ -e "$LOST/postmaster.pid" ]; then
  result=0
  status=$(as_postgres "$BIN/pg_ctl" -D "$LOST" status 2>&1) || result=$?
  case $result in
    3) ;;
    0) fail "The lost server still runs in $LOST, and writes into its WAL. Stop it: as_postgres $BIN/pg_ctl -D $LOST -w stop." ;;
    *) fail "It is unknown whether the lost server in $LOST runs: $status" ;;
  esac
fi
given=$REMAINDER
# The block start-lost writes into pg_wal, and has kept a copy from before.
if [ -n "${LOST:-}" ] && [ "$REMAINDER" = "$LOST/pg_wal" ] && [ -e "$LOST/unstarted" ]; then REMAINDER=$LOST/unstarted/pg_wal; fi
exec 9>>"$log"
flock --nonblock 9 || fail 'Another recovery runs.'
for folder in "$ARCHIVE" "$REMAINDER"; do ls "$folder" >/dev/null || fail "$folder cannot be read."; done
timeline=$(current_timeline)
lost=$(newest "$REMAINDER" '' | cut -c 1-8)
[ -n "$lost" ] || fail "$REMAINDER has no WAL file."
[ "$REMAINDER" = "$ARCHIVE" ] || [ "$lost" = "$timeline" ] ||
  fail "The lost server of $REMAINDER has the timeline $lost, and the archive also has $timeline, of a server that was recovered later. If that one was given up, paste the block give-up-timeline with $timeline. Otherwise this is not the server that was lost last."
is_base_backup "$BASE" || fail "There is no base backup at '$BASE'. There are: $(echo $(base_backups))."
first=$(first_wal "$BASE")
[ -n "$first" ] || fail "The file $BASE/backup_label is damaged. There are the base backups $(echo $(base_backups))."
is_usable "$BASE" "$timeline" ||
  fail "The base backup $BASE does not belong to the history of the timeline $timeline: its server was given up or lost. These belong to it: $(echo $(usable_backups "$timeline"))."
if [ -n "$UNTIL" ]; then assert_ended_before "$UNTIL"; fi
size=$(control "$BASE" 'Bytes per WAL segment')
page=$(control "$BASE" 'WAL block size')
assert_beginnings "$timeline" "$first" "$size"
short=$(short_last_file "$lost")
accepted=''
"$BIN/pg_verifybackup" --quiet --no-parse-wal "$BASE" ||
  fail "The base backup $BASE is damaged or incomplete. These belong to the timeline $timeline: $(echo $(usable_backups "$timeline")). If there is no other, load the dump on an empty server (Restore one database)."

rm -rf "$new"
cp -a "$BASE" "$new" || fail "The base backup $BASE cannot be copied."
# All settings of the recovery are on the command line, so that none of them outlives it. A backup may have those of an older recovery.
sed -i -E '/^(recovery_target|restore_command|archive_mode *= *.?off)/d' "$new/postgresql.auto.conf"
touch "$new/recovery.signal"
[ "$(id -u)" != 0 ] || chown -R postgres: "$new"
chmod 700 "$new"
config=$CONFIG
[ "$config" != "$DATA" ] || config=$new

# An exit code above 125 ends the recovery. With a lower one PostgreSQL would take the file for missing, and the WAL for complete.
restore="(cd '$ARCHIVE' && cd '$REMAINDER') || exit 255
test ! -e '$ARCHIVE/%f' || test ! -e '$REMAINDER/%f' || cmp -s '$ARCHIVE/%f' '$REMAINDER/%f'
if test \$? = 1; then
  echo 'The file %f of the archive differs from the one of the lost server.' >&2
  exit 255
fi
for f in '$ARCHIVE/%f' '$REMAINDER/%f'; do
  test ! -e \"\$f\" || { cp \"\$f\" %p && { test \"\$f\" != '$REMAINDER/$short' || { truncate -s $size %p && echo 'The copy of $short was padded.' >&2; }; } && exit 0; exit 255; }
done
exit 1"

# In single-user mode the program ends when the recovery has ended, nobody can connect, and nothing is archived.
cd /
as_postgres "$BIN/postgres" --single -D "$new" -c config_file="$config/postgresql.conf" -c data_directory="$new" \
  -c hot_standby=off -c logging_collector=off -c log_destination=stderr -c log_min_messages=warning -c lc_messages=C -c timezone=UTC -c datestyle=ISO \
  -c restore_command="$restore" -c recovery_target_timeline="$((0x$timeline))" -c recovery_target_action=promote \
  -c recovery_target= -c recovery_target_lsn= -c recovery_target_name= -c recovery_target_xid= -c recovery_target_time="$UNTIL" \
  postgres </dev/null >"$log" 2>&1 || { cat "$log" >&2 || true; fail 'PostgreSQL did not recover. Its log is above.'; }
grep -q 'archive recovery complete' "$log" || { cat "$log" >&2 || true; fail 'PostgreSQL recovered nothing. Its log is above.'; }

selected=$(timeline_of "$new")
ended=$(awk 'NF >= 2 { location = $2 } END { print location }' "$new/pg_wal/$selected.history")
[ -n "$ended" ] || fail "The file $new/pg_wal/$selected.history does not say where the recovery ended."
recovered=$(sed -n 's/.*last completed transaction was at log time //p' "$log" | tail -n 1)
[ -z "$recovered" ] || recovered=$(utc "$recovered")
if [ -z "$UNTIL" ]; then assert_all_was_read; else assert_nothing_left_behind; fi

# Only a new number belongs to the new server alone.
[ -z "$(newest "$ARCHIVE" "$selected")" ] ||
  fail "The recovered server would have the timeline $selected, of which $ARCHIVE has files without $selected.history. Give it up with the block give-up-timeline, and paste again."

# give-up.sh, prune.sh and the block put-aside recognise a restore that has not ended. A new terminal reads the names from it.
echo "export LOST='${LOST:-}' REMAINDER='$given'" >"$new/restore.unfinished" || fail "$new/restore.unfinished cannot be written."
warning=''
[ ! -e "$new/warning" ] || { warning=$(cat "$new/warning") && rm "$new/warning"; }
mv -T "$new" "$DATA"
[ -z "$warning" ] || printf '%s\n' "$warning"
padded=''
if [ -n "$short" ] && grep -qF "The copy of $short was padded." "$log"; then
  padded=yes
  echo "WARNING: The last WAL file of the lost server, $REMAINDER/$short, has $(stat -c %s "$REMAINDER/$short") bytes instead of $size. Its copy in $DATA was filled with zeros. What the missing part had is lost, unless another copy of the file is found."
fi
echo "The recovery followed the timeline $timeline. The recovered server has the timeline $selected."
grep -E 'recovery stopping|last completed transaction' "$log" || true
[ -n "$recovered" ] || echo "No transaction was replayed: the recovered server has the state of the base backup, which began at $(utc "$(sed -n 's/^START TIME: //p' "$BASE/backup_label")")+00. Give that time as --since in step 7."
case $accepted:$padded in
  yes:*) end="the WAL after $ended was not read, and ACCEPT_LOSS_AFTER accepts its loss." ;;
  *:yes) end="the last WAL file of the lost server is too short, so the end of the WAL is missing." ;;
  *) end="everything that can be read was recovered. A damaged end of the WAL can look like its end." ;;
esac
[ -n "$UNTIL" ] || echo "NOT PROVED: $end In step 7, compare with the logs of the service before you say that nothing is lost."
