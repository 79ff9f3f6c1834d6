import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { readOwnerUrl } from '../config/config.js';
import { cancelPending, DROPPABLE, dropPending, listPending } from '../jobs/outbound/pending.js';
import { findCellOf } from '../platform/db/migrations/open-moves.js';
import { withClient } from '../platform/db/connections/roles.js';
import { withServiceRole } from '../platform/db/open-database.js';
import { pauseOutbound, readPause, resumeOutbound } from '../platform/queue/outbound-pause.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { assertOwnerConnection } from './run/owner.js';
import { runScript } from './run/script.js';
import { timeOf } from './run/times.js';

type Print = (line: string) => void;

const USAGE = `${commandLine('outbound')}
${commandLine('outbound --pause REASON')}
${commandLine('outbound --resume [--cancel-before TIME]')}
${commandLine(`outbound --drop ${DROPPABLE.join('|')} --tenant SLUG --courier CODE [--before TIME]`)}`;

const DROP_USAGE = `Use ${commandLine(`outbound --drop ${DROPPABLE.join('|')} --tenant SLUG --courier CODE`)} [--before TIME], and no other option.`;

// npm run outbound: shows whether webhooks, mail and synchronisations are paused, and what waits. `-- --pause "reason"` pauses
// them, `-- --resume` sends what waits, and `-- --resume --cancel-before 2026-12-01T10:00:00Z` first cancels what is older.
// `-- --drop webhooks --tenant miami --courier IEX` gives up what waits for one courier: webhooks, mails or syncs.
await runScript(async (print) => {
  const { values } = parseArgs({
    options: {
      pause: { type: 'string' },
      resume: { type: 'boolean', default: false },
      'cancel-before': { type: 'string' },
      drop: { type: 'string' },
      tenant: { type: 'string' },
      courier: { type: 'string' },
      before: { type: 'string' },
    },
  });
  const { pause, resume, 'cancel-before': before, drop } = values;
  if (drop !== undefined) {
    if (pause || resume || before !== undefined) throw new Error(DROP_USAGE);
    await dropOfCourier({ ...values, drop }, print);
    return;
  }
  if ((values.tenant ?? values.courier ?? values.before) !== undefined) throw new Error(DROP_USAGE);
  // An empty variable of a script would look like a pause and change nothing.
  if (pause?.trim() === '') throw new Error('--pause needs a reason. Nothing was changed.');
  if ((pause && resume) || (before !== undefined && !resume))
    throw new Error('Use --pause REASON, or --resume with or without --cancel-before TIME.');
  const until = before === undefined ? undefined : timeOf(before);
  if (until && until.getTime() > Date.now())
    throw new Error(
      `${before} is in the future, so everything that waits would be cancelled. Nothing was changed.`,
    );
  const url = await openOwn();
  if (until) await cancel(url, until, print);
  await withClient(url, async (client) => {
    if (pause) await pauseOutbound(client, pause);
    if (resume) await resumeOutbound(client);
    const current = await readPause(client);
    print(
      current
        ? `Outbound work is paused since ${current.since.toISOString()}: ${current.reason}`
        : 'Outbound work is not paused. Workers notice a change within 15 seconds.',
    );
  });
  await printPending(url, print);
}, USAGE);

/** Returns the URL of this deployment's database. @throws Error when another deployment uses it, or it is no direct connection of the owner */
async function openOwn(): Promise<string> {
  const url = readOwnerUrl();
  await assertOwnDatabase(url, readIdentity());
  await assertOwnerConnection();
  return url;
}

type DropOptions = { drop: string; tenant?: string; courier?: string; before?: string };

async function dropOfCourier({ drop, tenant, courier, before }: DropOptions, print: Print): Promise<void> {
  const kind = DROPPABLE.find((each) => each === drop);
  if (!kind || !tenant || !courier) throw new Error(DROP_USAGE);
  const time = before === undefined ? new Date() : timeOf(before);
  const url = await openOwn();
  const cell = await withClient(url, (client) => findCellOf(client, tenant));
  if (cell)
    throw new Error(
      `The tenant ${tenant} is in the cell ${cell}. Run the command with the URL of that cell. Nothing was dropped.`,
    );
  const dropped = await withServiceRole(url, (db) => dropPending(db, { tenant, courier }, kind, time));
  if (dropped === undefined) throw new Error(`The tenant ${tenant} has no courier ${courier}.`);
  print(`Dropped ${dropped} ${kind} of ${tenant} ${courier}, created before ${time.toISOString()}.`);
}

async function cancel(url: string, before: Date, print: Print): Promise<void> {
  const { webhooks, mails, syncs } = await withServiceRole(url, (db) => cancelPending(db, before));
  print(
    `Cancelled what was created before ${before.toISOString()}: ${webhooks} webhooks, ${mails} mails, ` +
      `${syncs} customer synchronisations.`,
  );
}

async function printPending(url: string, print: Print): Promise<void> {
  const pending = await withServiceRole(url, listPending);
  if (pending.length === 0) print('Nothing waits.');
  for (const { tenant, courier, kind, count, oldest, newest } of pending)
    print(
      `${tenant} ${courier ?? '-'}: ${count} of kind ${kind}, created from ${oldest.toISOString()} to ${newest.toISOString()}`,
    );
}
