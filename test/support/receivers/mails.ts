import { runOnce } from 'graphile-worker';
import { pino } from 'pino';
import type { MailConfig } from '../../../src/config/config.js';
import {
  sendManifestMail,
  type MailDeps,
} from '../../../src/modules/mail/manifest-mails/send-manifest-mail.js';
import { makeMailer } from '../../../src/platform/mail/transport.js';
import { queueLogger } from '../../../src/platform/queue/log.js';
import { clone, freshNumber } from '../builders/couriers.js';
import { until } from '../service/processes.js';
import type { Reply, Service } from '../service/service.js';

/** Where queued mails are sent from: the queue itself, and a mailer of ours. */
export type MailRoom = {
  deps: MailDeps;
  /** All that was logged, by the task and by the queue, as JSON. */
  log: string[];
  /** Works the queue until nothing is due. */
  work(): Promise<void>;
  close(): void;
};

export function openMailRoom(service: Service, config: MailConfig, timeoutMs?: number): MailRoom {
  const log: string[] = [];
  const mailer = makeMailer(config, timeoutMs);
  const deps = {
    db: service.db,
    mailer,
    log: pino({ level: 'trace' }, { write: (line: string) => void log.push(line) }),
  };
  return {
    deps,
    log,
    async work() {
      const { connectionString = '' } = service.owner.options;
      await runOnce({
        connectionString,
        maxPoolSize: 2,
        concurrency: 2,
        noHandleSignals: true,
        logger: queueLogger((line) => void log.push(JSON.stringify(line))),
        // as: what queueManifestMails gave it
        taskList: { sendManifestMail: (payload) => sendManifestMail(deps, payload as never) },
      });
      // it may be done before it has noted what became of the last job
      await until(async () => {
        const { rowCount } = await service.owner.query(
          `select from graphile_worker.jobs where task_identifier = 'sendManifestMail'
             and (locked_at is not null or (run_at <= now() and attempts < max_attempts))`,
        );
        return rowCount === 0;
      });
    },
    close: () => mailer.close(),
  };
}

export type MailRow = {
  id: string;
  tenant_id: string;
  courier_id: string;
  manifest_status: string;
  status: string;
  recipient: string | null;
  attempt_count: number;
  last_error: string | null;
  settled_at: Date | null;
};

/** The rows of a manifest's mails, in the order in which they were queued. */
export async function mailsOf(service: Service, manifestId: string): Promise<MailRow[]> {
  const { rows } = await service.owner.query<MailRow>(
    'select * from manifest_mails where manifest_id = $1 order by created_at, courier_id',
    [manifestId],
  );
  return rows;
}

export type MailJob = { attempts: number; max_attempts: number; delay_s: number; last_error: string | null };

/** What the queue holds of a mail. */
export async function jobsOf(service: Service, mailId: string): Promise<MailJob[]> {
  const { rows } = await service.owner.query<MailJob>(
    `select attempts, max_attempts, extract(epoch from run_at - now())::float as delay_s, last_error
     from graphile_worker._private_jobs where payload ->> 'mailId' = $1`,
    [mailId],
  );
  return rows;
}

/** Makes due what the queue would try later. */
export async function hurry(service: Service): Promise<void> {
  await service.owner.query('update graphile_worker._private_jobs set run_at = now()');
}

/** A manifest of the demo tenant with these packages aboard. */
export async function makeManifest(service: Service, packageIds: string[], meta = {}): Promise<string> {
  const created = await service.call('createManifest', { as: 'warehouse' });
  const id: string = created.body['data'].manifest_id;
  if (Object.keys(meta).length > 0)
    expectOk(await manage(service, { action: 'update_meta', manifest_id: id, ...meta }));
  if (packageIds.length > 0)
    expectOk(await manage(service, { action: 'add_packages', manifest_id: id, package_ids: packageIds }));
  return id;
}

/** Moves a manifest on, step by step. */
export async function move(service: Service, manifestId: string, ...statuses: string[]): Promise<void> {
  for (const status of statuses)
    expectOk(await manage(service, { action: 'update_meta', manifest_id: manifestId, status }));
}

export const manage = (service: Service, body: object): Promise<Reply> =>
  service.call('manageManifest', { as: 'warehouse', body });

function expectOk({ status, body }: Reply): void {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
}

/** Copies of a package, on no manifest, received one after another. */
export async function makePackages(
  service: Service,
  sourceId: string | undefined,
  changes: Record<string, unknown>[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const [n, change] of changes.entries()) {
    const number = freshNumber();
    const received_at = new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
    const own = { tracking_number: number, tracking_key: number, house_number: number, manifest_id: null };
    ids.push(await clone(service.owner, 'packages', sourceId ?? '', { ...own, received_at, ...change }));
  }
  return ids;
}
