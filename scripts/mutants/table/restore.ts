import type { SourceMutant } from '../mutant.js';

const TIMELINES = 'test/operations/restore/timelines.test.ts';
const BEFORE = 'test/long/restore/time-before-backup.test.ts';
const UNREAD = 'test/long/restore/unread-wal.test.ts';

const COVERAGE = 'test/operations/restore/report-coverage.test.ts';

/** Guards of a restore: the scripts of deploy/postgres, and the report. */
export const RESTORE: readonly SourceMutant[] = [
  {
    name: 'restore: a timeline that was given up is not followed',
    file: 'deploy/postgres/archive.sh',
    find: 'while read -r each; do is_given_up "$each" || echo "$each"; done',
    replace: 'cat',
    tests: [{ file: TIMELINES, titles: ['the older one if the newest is given up'] }],
  },
  {
    name: 'restore: a timeline whose first file is missing is refused',
    file: 'deploy/postgres/archive.sh',
    find: '[ -n "$found" ] || fail',
    replace: 'true || fail',
    tests: [{ file: TIMELINES, titles: ['if the first file of the newest timeline is missing'] }],
  },
  {
    name: 'restore: a lost server that is not the last one is refused',
    file: 'deploy/postgres/recover.sh',
    find: '[ "$REMAINDER" = "$ARCHIVE" ] || [ "$lost" = "$timeline" ] ||',
    replace: 'true ||',
    tests: [{ file: TIMELINES, titles: ['with a lost server that is not the last one'] }],
  },
  {
    name: 'restore: a base backup of another history is refused',
    file: 'deploy/postgres/recover.sh',
    find: 'is_usable "$BASE" "$timeline" ||',
    replace: 'true ||',
    tests: [{ file: TIMELINES, titles: ['from a base backup that ended after its timeline was left'] }],
  },
  {
    name: 'restore: a number of a timeline is not used twice',
    file: 'deploy/postgres/recover.sh',
    find: '[ -z "$(newest "$ARCHIVE" "$selected")" ] ||',
    replace: 'true ||',
    tests: [{ file: TIMELINES, titles: ['if the new number has files in the archive'] }],
  },
  {
    name: 'restore: WAL after the end of the recovery is no success',
    file: 'deploy/postgres/wal-records.sh',
    find: '[ -n "$unread" ] || { assert_no_gap; warn_of_later_writes; return 0; }',
    replace: 'return 0',
    tests: [{ file: UNREAD, titles: ['WAL that a damaged page hides is no success'] }],
  },
  {
    name: 'restore: a checkpoint that was not reached is no success',
    file: 'deploy/postgres/wal-records.sh',
    find: '[ -z "$location" ] ||',
    replace: 'true ||',
    tests: [{ file: UNREAD, titles: ['a checkpoint that the lost server had written'] }],
  },
  {
    name: 'restore: rows that only an abandoned timeline has are not left out silently',
    file: 'deploy/postgres/wal-records.sh',
    find: '[ -z "$missing" ] || fail_left_behind',
    replace: 'true || fail_left_behind',
    tests: [{ file: UNREAD, titles: ['a time whose rows only an abandoned timeline has'] }],
  },
  {
    name: 'restore: a time before the end of the base backup is refused',
    file: 'deploy/postgres/recover.sh',
    find: 'if [ -n "$UNTIL" ]; then assert_ended_before "$UNTIL"; fi',
    replace: '',
    tests: [{ file: BEFORE, titles: ['a time before the base backup is refused'] }],
  },
  {
    name: 'restore: an earlier request that is in no log proves nothing if the servers are known',
    file: 'src/commands/restore-report/coverage.ts',
    find: '!tellsServers(known) || timeOfId(id)',
    replace: 'true || timeOfId(id)',
    tests: [{ file: COVERAGE, titles: ['a request of before the time that is in no log'] }],
  },
  {
    name: 'restore: a request of the compared time that is in no log is a gap, also if the servers are known',
    file: 'src/commands/restore-report/coverage.ts',
    find: '!tellsServers(known) || timeOfId(id) >= given.span.from.getTime(),',
    replace: '!tellsServers(known),',
    tests: [{ file: COVERAGE, titles: ['a request of before the time that is in no log'] }],
  },
];
