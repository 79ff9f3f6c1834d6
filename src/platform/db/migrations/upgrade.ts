import type { BackgroundRow } from './background-rows.js';
import { lastName, type HistoryRow } from './history.js';
import { findFaults } from './check-migrations.js';
import { needsStop, type Migration } from './migration-files.js';
import { migrationsOf, type Releases } from './releases.js';
import { commandLine } from '../../../config/commands.js';

/** Exit codes of `npm run doctor -- --upgrade`. */
export const UPGRADE_CODES = { rolling: 0, stop: 3, wait: 4, unsupported: 5 } as const;

export type UpgradeVerdict = {
  verdict: keyof typeof UPGRADE_CODES;
  reasons: string[];
  /** What to do next. */
  next: string;
};

export type Installation = {
  history: Pick<HistoryRow, 'name' | 'finishedAt'>[];
  background: Pick<BackgroundRow, 'name' | 'status'>[];
  /** What keeps the owner of the tables from applying migrations, with remedies. */
  faults?: string[];
};

/** Decides how an installation can be upgraded to the migrations of this code. */
export function judgeUpgrade(
  installation: Installation,
  shipped: Migration[],
  releases: Releases,
): UpgradeVerdict {
  const { history, faults = [] } = installation;
  if (faults.length > 0)
    return {
      verdict: 'unsupported',
      reasons: faults,
      next: 'Correct this first, and repeat. The migrations would fail.',
    };
  if (history.length === 0)
    return {
      verdict: 'rolling',
      reasons: ['The database is new.'],
      next: `Run ${commandLine('migrate')}, then start.`,
    };
  const applied = new Set(history.map(({ name }) => name));
  const pending = shipped.filter(({ name }) => !applied.has(name));
  return (
    findObstacle(installation, shipped, releases) ??
    findRequired(installation, pending) ??
    judgeKinds(pending)
  );
}

const unsupported = (reasons: string[], next: string): UpgradeVerdict | undefined =>
  reasons.length > 0 ? { verdict: 'unsupported', reasons, next } : undefined;

function findObstacle(
  { history }: Installation,
  shipped: Migration[],
  { upgradesFrom, versions }: Releases,
): UpgradeVerdict | undefined {
  const known = new Set(shipped.map(({ name }) => name));
  const applied = new Set(history.map(({ name }) => name));
  const unknown = history.filter(({ name }) => !known.has(name));
  const unfinished = history.filter(({ finishedAt }) => !finishedAt);
  const oldest = versions[upgradesFrom];
  const tooOld = oldest ? migrationsOf(oldest, shipped).filter(({ name }) => !applied.has(name)) : [];
  const last = lastName(history);
  const early = [...known].filter((name) => !applied.has(name) && name < last);
  return (
    unsupported(
      findFaults(shipped.filter(({ name }) => !applied.has(name))),
      `${commandLine('migrate')} refuses such a migration.`,
    ) ??
    unsupported(
      unknown.map(({ name }) => `${name} is applied, and this version does not know it.`),
      'A database cannot be downgraded. Use the version that applied it or a later one, or restore a backup.',
    ) ??
    unsupported(
      unfinished.map(({ name }) => `${name} began and did not finish.`),
      `Run ${commandLine('doctor')} and correct this first.`,
    ) ??
    unsupported(
      tooOld.map(({ name }) => `${name} of version ${upgradesFrom} is not applied.`),
      `Upgrade to version ${upgradesFrom} first.`,
    ) ??
    unsupported(
      early.map((name) => `${name} is not applied and sorts before ${last}, which is.`),
      'Such a migration is refused. If a branch has added it, rename its folder so that it sorts last. Otherwise use the release that the database belongs to.',
    )
  );
}

function findRequired(
  { history, background }: Installation,
  pending: Migration[],
): UpgradeVerdict | undefined {
  const finished = new Set(background.filter(({ status }) => status === 'finished').map(({ name }) => name));
  const applied = new Set(history.map(({ name }) => name));
  const required = pending.flatMap(({ name, requires }) =>
    requires.filter((each) => !finished.has(each)).map((each) => ({ name, each })),
  );
  const skipped = required.filter(({ each }) => !applied.has(each));
  return (
    unsupported(
      skipped.map(({ name, each }) => `${name} needs ${each} to be finished, and it is not applied yet.`),
      'Upgrade to a release between them first, and let its workers finish it.',
    ) ??
    (required.length > 0
      ? {
          verdict: 'wait',
          reasons: required.map(
            ({ name, each }) => `${name} needs the background migration ${each} to be finished.`,
          ),
          next: `Let the workers of the running version finish it, and repeat. ${commandLine('migrate --status')} shows the progress.`,
        }
      : undefined)
  );
}

function judgeKinds(pending: Migration[]): UpgradeVerdict {
  if (pending.length === 0)
    return {
      verdict: 'rolling',
      reasons: ['Every migration is applied.'],
      next: 'There is nothing to apply. If processes of another version run, replace them one after another.',
    };
  const stops = pending.filter(needsStop);
  if (stops.length > 0)
    return {
      verdict: 'stop',
      reasons: stops.map(({ name }) => `The running version does not survive ${name}.`),
      next: `Stop every server and worker, run ${commandLine('migrate')}, and start the new version.`,
    };
  return {
    verdict: 'rolling',
    reasons: pending.map(({ name }) => `The running version survives ${name}.`),
    next: `Run ${commandLine('migrate')}, and replace the processes one after another.`,
  };
}
