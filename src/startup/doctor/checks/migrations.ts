import type pg from 'pg';
import { readValues } from '../../../platform/db/connections/rows.js';
import { withClient } from '../../../platform/db/connections/roles.js';
import { checkSearchPath } from '../../../platform/db/login-check/settings.js';
import {
  describeHolder,
  findMigrationHolder,
  holderRemedy,
} from '../../../platform/db/migrations/migration-lock.js';
import { CURE_OF_CHANGED, findChanged } from '../../../platform/db/migrations/check-migrations.js';
import {
  lastName,
  nameMigrations,
  readHistory,
  type HistoryRow,
} from '../../../platform/db/migrations/history.js';
import {
  MIGRATIONS,
  readMigrations,
  type Migration,
} from '../../../platform/db/migrations/migration-files.js';
import { orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import type { Connected } from './subject.js';
import { commandLine } from '../../../config/commands.js';

/** Compares the migrations of this build with those that the database has recorded. */
export async function checkMigrations({ client, config }: Connected): Promise<Finding[]> {
  // Then no table is found, and every migration would seem to be missing.
  const path = await checkSearchPath(client);
  if (path.length > 0) return path.map(({ message, remedy }) => problem(message, remedy));
  const shipped = await readMigrations(MIGRATIONS);
  const history = await readHistory(client);
  const recorded = new Map(history.map((row) => [row.name, row]));
  const pending = shipped.filter(({ name }) => !recorded.has(name));
  const last = lastName(history);
  return orOk(
    [
      ...describePending(
        pending.map(({ name }) => name),
        last,
      ),
      ...history.filter(({ finishedAt }) => !finishedAt).map(({ name }) => describeUnfinished(name)),
      ...findUnknown(shipped, history),
      ...findChanged(shipped, history).map((message) => problem(message, CURE_OF_CHANGED)),
      await findHolder(client, config.databaseOwnerUrl),
      ...(await findInvalidIndexes({ client })),
      ...findDisorder(history.map(({ name }) => name)),
    ],
    `All ${shipped.length} migrations are applied.`,
  );
}

/** One finding for all that are missing before the last applied one, and one for those after it. */
function describePending(names: string[], last: string): Finding[] {
  const between = names.filter((name) => name < last);
  const later = names.filter((name) => name >= last);
  const areMissing = (missing: string[]) =>
    `${nameMigrations(missing)} ${missing.length > 1 ? 'are' : 'is'} missing`;
  return [
    ...(between.length > 0
      ? [
          problem(
            `${areMissing(between)}, although later migrations are applied.`,
            `${commandLine('migrate')} refuses them. Use the release that the database belongs to, or rename their folders so that they sort last.`,
          ),
        ]
      : []),
    ...(later.length > 0 ? [problem(`${areMissing(later)}.`, `To apply them, ${APPLY}`)] : []),
  ];
}

/** Names a process that migrates. Only the connection of the owner sees its address and its statement. */
async function findHolder(client: pg.Client, ownerUrl: string | undefined): Promise<Finding | undefined> {
  const ofService = () => findMigrationHolder(client);
  // Another check reports that the owner's connection does not work.
  const holder = await (ownerUrl ? withClient(ownerUrl, findMigrationHolder).catch(ofService) : ofService());
  return holder && warning(`A migration runs: ${describeHolder(holder)}.`, holderRemedy(holder));
}

const APPLY = `run ${commandLine('migrate')} with DATABASE_OWNER_URL.`;
const DOWNGRADE = 'Run the version that applied it, or a later one. A database cannot be downgraded.';

/** Those of a later release are right after a rollback, which docs/deploy.md describes, unless the running version does not survive them. */
function findUnknown(shipped: Migration[], history: HistoryRow[]): Finding[] {
  const last = shipped.at(-1)?.name ?? '';
  const unknown = history.filter(({ name }) => !shipped.some((each) => each.name === name));
  const isLater = (row: HistoryRow) => row.name > last && !row.needsStop;
  const later = unknown.filter(isLater).map(({ name }) => name);
  const others = unknown.filter((row) => !isLater(row));
  const findings = others.map(({ name }) =>
    problem(`${name} is applied, and unknown to this version.`, DOWNGRADE),
  );
  if (later.length === 0) return findings;
  const advice = `After a rollback this is right, if ${commandLine('doctor --upgrade')} of that release returned 0 (docs/deploy.md). Otherwise run that release.`;
  return [...findings, warning(`A later release has applied ${later.join(', ')}.`, advice)];
}

const describeUnfinished = (name: string): Finding =>
  problem(
    `${name} began and did not finish.`,
    'Compare the schema with its script, then run prisma migrate resolve with --rolled-back or --applied.',
  );

const findDisorder = (names: string[]): Finding[] =>
  names.flatMap((name, index) => {
    const previous = names[index - 1];
    if (previous === undefined || previous < name) return [];
    return warning(
      `${name} was applied after ${previous}, against their order.`,
      'Compare the schema with that of a new database, for example with pg_dump --schema-only.',
    );
  });

async function findInvalidIndexes({ client }: Pick<Connected, 'client'>): Promise<Finding[]> {
  const names = await readValues<string>(
    client,
    'select indexrelid::regclass::text as name from pg_index where not indisvalid order by name',
  );
  return names.map((name) =>
    problem(
      `The index ${name} is invalid, because its build failed.`,
      `Run drop index concurrently ${name} as the owner, then create it as its migration does.`,
    ),
  );
}
