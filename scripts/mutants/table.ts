import type { Mutant } from './mutant.js';
import { ACCESS, TRACKING } from './table/access.js';
import { START_UP } from './table/start-up.js';
import { ATTACKS, FEEDS, SANDBOXES } from './table/attacks.js';
import { CELLS } from './table/cells.js';
import { DATABASE } from './table/database.js';
import { FLOOR } from './table/floor.js';
import { INPUTS } from './table/inputs.js';
import { RACES } from './table/races.js';
import { NOTICES, RECORDS } from './table/records.js';
import { RELATED_NUMBERS } from './table/related-numbers.js';
import { RESTORE } from './table/restore.js';
import { SCANS } from './table/scans.js';
import { SIGN_IN } from './table/sign-in.js';
import { TRANSPORT } from './table/transport.js';

/** All guards that `npm run mutants` removes. */
export const MUTANTS: readonly Mutant[] = [
  ...SIGN_IN,
  ...ACCESS,
  ...START_UP,
  ...TRANSPORT,
  ...RECORDS,
  ...RELATED_NUMBERS,
  ...SCANS,
  ...RACES,
  ...FLOOR,
  ...INPUTS,
  ...ATTACKS,
  ...DATABASE,
  ...CELLS,
  ...RESTORE,
  ...FEEDS,
  ...SANDBOXES,
  ...TRACKING,
  ...NOTICES,
];
