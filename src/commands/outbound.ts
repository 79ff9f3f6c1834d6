import { parseArgs } from 'node:util';
import { readIdentity } from '../config/command-settings.js';
import { commandLine } from '../config/commands.js';
import { readOwnerUrl } from '../config/config.js';
import { cancelPending, DROPPABLE, dropPending, listPending } from '../jobs/outbound/pending.js';
import { APP_ROLE, withClient } from '../platform/db/connections/roles.js';
import { openDb } from '../platform/db/open-database.js';
import { pauseOutbound, readPause, resumeOutbound } from '../platform/queue/outbound-pause.js';
import { assertOwnDatabase } from '../startup/database-owner.js';
import { runScript } from './run/script.js';

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
  if (values.tenant ?? values.courier ?? values.before) throw new Error(DROP_USAGE);
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

/** Returns the URL of this deployment's database. @throws ConfigError when another deployment uses it */
async function openOwn(): Promise<string> {
  const url = readOwnerUrl();
  await assertOwnDatabase(url, readIdentity());
  return url;
}

type DropOptions = { drop: string; tenant?: string; courier?: string; before?: string };

async function dropOfCourier({ drop, tenant, courier, before }: DropOptions, print: Print): Promise<void> {
  const kind = DROPPABLE.find((each) => each === drop);
  if (!kind || !tenant || !courier) throw new Error(DROP_USAGE);
  const time = before === undefined ? new Date() : timeOf(before);
  const dropped = await withService(await openOwn(), (db) =>
    dropPending(db, { tenant, courier }, kind, time),
  );
  if (dropped === undefined) throw new Error(`The tenant ${tenant} has no courier ${courier}.`);
  print(`Dropped ${dropped} ${kind} of ${tenant} ${courier}, created before ${time.toISOString()}.`);
}

function timeOf(text: string): Date {
  const time = new Date(text);
  // Without a zone, Date would take the machine's.
  if (!/T.*(Z|[+-]\d\d:\d\d)$/.test(text) || Number.isNaN(time.getTime()))
    throw new Error(`${text} is not a time with a zone, for example 2026-12-01T10:00:00Z.`);
  return time;
}

async function cancel(url: string, before: Date, print: Print): Promise<void> {
  const { webhooks, mails, syncs } = await withService(url, (db) => cancelPending(db, before));
  print(
    `Cancelled what was created before ${before.toISOString()}: ${webhooks} webhooks, ${mails} mails, ` +
      `${syncs} customer synchronisations.`,
  );
}

async function printPending(url: string, print: Print): Promise<void> {
  const pending = await withService(url, listPending);
  if (pending.length === 0) print('Nothing waits.');
  for (const { tenant, courier, kind, count, oldest, newest } of pending)
    print(
      `${tenant} ${courier ?? '-'}: ${count} of kind ${kind}, created from ${oldest.toISOString()} to ${newest.toISOString()}`,
    );
}

/** Runs `work` with the rights of the service. */
async function withService<Result>(
  url: string,
  work: (db: ReturnType<typeof openDb>) => Promise<Result>,
): Promise<Result> {
  const db = openDb({ url, size: 1, assumeRole: APP_ROLE, onError: () => undefined });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
