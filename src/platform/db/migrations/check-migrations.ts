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

/** Whether it is a time with 14 digits, in UTC, and a title in lower case. Names sort by the time. */
function isMigrationName(name: string): boolean {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)_[a-z0-9]+(?:_[a-z0-9]+)*$/.exec(name) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // A date such as 31 February is moved to March.
  return !Number.isNaN(time.getTime()) && time.getUTCDate() === Number(day);
}
