import type { SourceMutant } from '../mutant.js';

const TIMELINES = 'test/operations/restore/timelines.test.ts';

/** Guards of a restore, in the scripts of deploy/postgres. */
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
];
