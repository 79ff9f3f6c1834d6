import { lastName, type HistoryRow } from './history.js';
import { UPGRADE_KINDS, type Migration } from './migration-files.js';

/** Migrations before this one are those of the first release. They have no header, and are never changed. */
const FIRST_WITH_HEADER = '20261202000000_growth';

const CURE_OF_NAME =
  'Rename the folder to the time in UTC and a title, for example 20270131094500_courier_notes. Nothing is applied.';

/** Returns what is wrong with the names and headers of these migrations: one line each, with its cure (docs/migrations.md). */
export function findFaults(migrations: Migration[]): string[] {
  return migrations.flatMap(({ name, upgrade }) => {
    if (!isMigrationName(name)) return [`${name} is not the name of a migration. ${CURE_OF_NAME}`];
    if (upgrade || name < FIRST_WITH_HEADER) return [];
    const kinds = UPGRADE_KINDS.map((kind) => `"-- upgrade: ${kind}"`).join(', ');
    return [
      `${name} has no header. Begin its migration.sql with one of ${kinds}, as docs/migrations.md describes. Nothing is applied.`,
    ];
  });
}

/** What to do about a script that is not the one that was applied. */
export const CURE_OF_CHANGED =
  'Install the release again. If the script was changed on purpose, compare the schema with it.';

/** Returns one line per migration whose script is not the one that was applied. */
export function findChanged(migrations: Migration[], history: HistoryRow[]): string[] {
  const applied = new Map(history.map(({ name, checksum }) => [name, checksum]));
  return migrations
    .filter(({ name, checksum }) => (applied.get(name) ?? checksum) !== checksum)
    .map(({ name }) => `${name} is not the script that was applied.`);
}

/** A migration was tested after those that sort before it, and only after those. @throws Error when one would be applied earlier */
export function assertInOrder(pending: Migration[], history: HistoryRow[]): void {
  const last = lastName(history);
  const early = pending.filter(({ name }) => name < last).map(({ name }) => name);
  if (early.length === 0) return;
  throw new Error(
    `${early.join(', ')} ${early.length === 1 ? 'sorts' : 'sort'} before ${last}, which is applied, so nothing is applied. If a ` +
      'branch has added it, rename its folder so that it sorts last. Otherwise use the release ' +
      'that the database belongs to.',
  );
}

/** Whether it is a time with 14 digits, in UTC, and a title in lower case. Names sort by the time. */
function isMigrationName(name: string): boolean {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)_[a-z0-9]+(?:_[a-z0-9]+)*$/.exec(name) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // A date such as 31 February is moved to March.
  return !Number.isNaN(time.getTime()) && time.getUTCDate() === Number(day);
}
