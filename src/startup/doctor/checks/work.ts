import { readRow } from '../../../platform/db/connections/rows.js';
import { readBackgroundMigrations } from '../../../platform/db/migrations/background-rows.js';
import { readCellsOfMoved, readOpenMoves } from '../../../platform/db/migrations/open-moves.js';
import { pendingWork, selectBacklog, type BacklogRow } from '../../../platform/metrics/backlog-queries.js';
import { isOnOtherServer, readPause } from '../../../platform/queue/outbound-pause.js';
import type { SystemContext } from '../../../platform/context/request-context.js';
import { forEachTenant } from '../scope/tenants.js';
import { ok, orOk, problem, warning, type Finding } from '../../shared-checks/finding.js';
import { checkMail } from './mail.js';
import type { Connected } from './subject.js';
import { commandLine } from '../../../config/commands.js';

/** The work that waits should begin within seconds. */
const LATE_SECONDS = 300;

/** More than a worker process finishes within minutes. */
const MANY_JOBS = 10_000;

/** Of one courier and kind. A system that is away takes 15 seconds per attempt. */
const MANY_PENDING = 1_000;

/** Examines whether a worker runs. Without one no webhook and no mail is sent. */
export async function checkWorkers({ client, workers: expected }: Connected): Promise<Finding> {
  const { worker_pools: workers, queue, outbound, latest_heartbeat_seconds: age } = await readBacklog(client);
  // A worker that has crashed counts for 45 seconds, so the age says more than the number.
  if (workers > 0)
    return ok(
      `Workers with a heartbeat in the last 45 s: ${workers}. The latest was ${Math.round(age ?? 0)} s ago.`,
    );
  const remedy = `Start ${commandLine('worker')}, or servers without RUN_WORKER=false.`;
  // The job of a delivery queue is not ready while the worker that has crashed still holds it.
  const waits = queue.some(({ ready }) => ready > 0) || outbound.oldest_due_delivery_seconds > LATE_SECONDS;
  if (waits) return problem('No worker runs, and jobs wait.', remedy);
  return expected > 0
    ? problem('No worker has a recent heartbeat, although --workers says that there are some.', remedy)
    : warning('No worker has a recent heartbeat.', remedy);
}

/** Examines whether webhooks, mail and synchronisations are paused, as they are after a restore. */
export async function checkPause({ client }: Connected): Promise<Finding> {
  const pause = await readPause(client);
  if (pause)
    return warning(
      `Outbound work is paused since ${pause.since.toISOString()}: ${pause.reason}`,
      `Run ${commandLine('outbound')} to see what waits, then resume it as docs/restore.md describes.`,
    );
  if (await isOnOtherServer(client))
    return warning(
      'Outbound work is not paused yet, and the next start of a server or worker pauses it: the database is on another server or timeline than before.',
      'After a restore, follow docs/restore.md. A worker that has run since before a failover ends the pause by itself.',
    );
  return ok('Outbound work is not paused.');
}

/** Examines whether tenants are between two cells. Until their moves end, slots keep WAL, and migrations are refused. */
export async function checkMoves({ client, config }: Connected): Promise<Finding[]> {
  const moves = await readOpenMoves(client);
  const cells = [...(await readCellsOfMoved(client)), ...moves.map(({ cell }) => cell)];
  const unknown = [...new Set(cells)].filter((cell) => !config.cells.some(({ name }) => name === cell));
  return orOk(
    [
      ...unknown.map(describeUnknownCell),
      ...moves.map(({ id, state, cell, since }) =>
        warning(
          `The tenant ${id} is being moved, with the cell ${cell}: ${state} since ${since.toISOString()}.`,
          `End it with ${commandLine('tenant-move')} and --confirm or --undo, before the next upgrade.`,
        ),
      ),
    ],
    'No tenant is being moved.',
  );
}

const describeUnknownCell = (cell: string): Finding =>
  warning(
    `Tenants of this cell are in the cell ${cell}, which DATABASE_CELLS does not name.`,
    'Every server needs it there, or it finds none of these tenants. A worker does not: examine with the settings of a server.',
  );

/** Examines what waits in the queue and in the outbox, over all tenants: its age, and how much it is. */
export async function checkBacklog(subject: Connected): Promise<Finding[]> {
  const { queue, outbound } = await readBacklog(subject.client);
  const late = [
    ...queue.map(({ kind, oldest_ready_seconds: age }) => ({ what: `A job ${kind}`, age })),
    { what: 'A webhook', age: outbound.oldest_due_delivery_seconds },
    { what: 'A mail', age: outbound.oldest_queued_mail_seconds },
    { what: 'A customer synchronisation', age: outbound.oldest_open_sync_seconds },
  ].filter(({ age }) => age > LATE_SECONDS);
  const mailFails = late.some(({ what }) => MAILS.test(what)) && (await isMailFailing(subject));
  const many = queue.filter(({ ready, blocked }) => ready + blocked > MANY_JOBS);
  const failed = queue.filter((kind) => kind.failed > 0);
  return orOk(
    [
      ...late.map(({ what, age }) =>
        warning(
          `${what} has been waiting for ${Math.round(age)} s.`,
          mailFails && MAILS.test(what) ? MAIL_FIRST : ADD_WORKERS,
        ),
      ),
      ...many.map(({ kind, ready, blocked }) =>
        warning(`${ready + blocked} due jobs ${kind} wait.`, ADD_WORKERS),
      ),
      ...(await forEachTenant(subject, findBacklogs)).flat(),
      ...failed.map(({ kind, failed: count }) =>
        warning(
          `${count} jobs ${kind} have failed all attempts.`,
          'Read last_error in graphile_worker._private_jobs, then reschedule or delete them.',
        ),
      ),
    ],
    'Nothing waits for longer than it should, and no courier has many webhooks, mails or synchronisations that wait.',
  );
}

/** Mails, and the jobs that send them. */
const MAILS = /mail/i;

/** Whether the check "mail" has a problem, so that more workers would send no mail either. */
const isMailFailing = async (subject: Connected): Promise<boolean> =>
  [await checkMail(subject)].flat().some(({ level }) => level === 'problem');

const MAIL_FIRST = 'First correct what the line "mail" says.';

const ADD_WORKERS = 'See "Alerts and what to do" in docs/operations.md; perhaps more workers are needed.';

/** Finds couriers for whom much waits. While their system is away, each attempt occupies a worker until it times out. */
async function findBacklogs(ctx: SystemContext): Promise<Finding[]> {
  const [rows] = await ctx.read([pendingWork(ctx)]);
  return rows
    .filter(({ count }) => count > MANY_PENDING)
    .map(({ tenant, courier, kind, count, oldest }) =>
      warning(
        `${count} of kind ${kind} wait for ${courier ? `the courier ${courier} of ` : ''}the tenant ${tenant}, the oldest since ${oldest.toISOString()}.`,
        `See "WebhooksLate" in docs/operations.md. ${commandLine('outbound --drop')} gives up what waits for one courier.`,
      ),
    );
}

function readBacklog(client: Connected['client']): Promise<BacklogRow> {
  const { text, values } = selectBacklog();
  return readRow(client, text, values);
}

/** What background migrations report, by the end of their name. */
const DOUBLES = {
  name: '',
  what: 'packages whose tracking number another package has too',
  remedy:
    'Managers find both in the audit log, action package.double_found. See "Packages that are stored twice" in docs/operations.md.',
};
const REPORTS = [
  {
    name: '_renamed_prealerts',
    what: 'pre-alerts whose user code no customer has',
    remedy:
      'Managers find them in the audit log, action prealert.customer_unknown. See "Pre-alerts without a customer" in docs/operations.md.',
  },
  {
    name: '_announced_keys',
    what: 'pre-alerts of a parcel that its courier has announced in another spelling too',
    remedy:
      'Managers find both in the audit log, action prealert.double_found. Delete the one that is not needed, or leave both: neither is lost.',
  },
];

/** Examines background migrations, which the next release may need. */
export async function checkBackground({ client }: Pick<Connected, 'client'>): Promise<Finding[]> {
  const migrations = await readBackgroundMigrations(client);
  const unfinished = migrations.filter(({ status }) => status !== 'finished');
  const reported = migrations.filter(({ findings }) => findings > 0);
  const findings = reported.map(({ name, findings: count }) => {
    const { what, remedy } = REPORTS.find((each) => name.endsWith(each.name)) ?? DOUBLES;
    return warning(`The background migration ${name} found ${count} ${what}.`, remedy);
  });
  return orOk(
    [
      ...findings,
      ...unfinished.map(({ name, status, lastError }) => {
        if (lastError) return problem(`The background migration ${name} fails: ${lastError}`, REPORT);
        return status === 'paused'
          ? warning(
              `The background migration ${name} is paused.`,
              `Run ${commandLine(`migrate --resume ${name}`)}.`,
            )
          : ok(`The background migration ${name} is running.`);
      }),
    ],
    'All background migrations have finished.',
  );
}

const REPORT =
  'The workers repeat it each minute. Correct the rows that the error names, or report the error.';
