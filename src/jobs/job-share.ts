import { setTimeout as delay } from 'node:timers';
import { BACKGROUND } from '../platform/audit/audit.js';
import { makeContext, type SystemContext } from '../platform/context/request-context.js';
import type { Sql } from '../platform/db/statements.js';
import { putBack, type Jobs } from '../platform/queue/jobs.js';
import type { RunningJob } from '../platform/queue/runner.js';
import type { TaskDeps } from '../platform/queue/task-context.js';

type Kind =
  | 'deliver'
  | 'sendManifestMail'
  | 'sendAccountMail'
  | 'sendBillMail'
  | 'sendNoticeMail'
  | 'checkIntegration';
type Work<Of extends Kind> = (own: TaskDeps, payload: Jobs[Of]) => Promise<void>;
export type JobWork<Of extends Kind> = (own: TaskDeps, payload: Jobs[Of], job: RunningJob) => Promise<void>;

type Returned = RunningJob & { withinSeconds: number };
/** Returns the statement that queues a job again. */
type Return<Of extends Kind> = (ctx: SystemContext, payload: Jobs[Of], job: Returned) => Sql;

/** The numbers of mails, checks or delivery queues that a process works on at the same time: in total, and of one tenant. */
export type ShareSize = { total: number; perTenant: number };

const SHORTEST_S = 2;
/** So many waiting mails of a tenant and kind make their wait a second longer. Then 10,000 of them cost 40 jobs per second. */
const WAITING_PER_S = 20;

/** A share of the worker's slots. */
export type JobShare = {
  /**
   * Returns the function of a job that sends to others if the share has room. Otherwise the job returns to the queue, so that it occupies
   * no slot of other work.
   * @param returned how, if not as a job of its own
   */
  within<Of extends Kind>(kind: Of, work: Work<Of>, returned?: Return<Of>): JobWork<Of>;
};

export function makeJobShare({ total, perTenant }: ShareSize): JobShare {
  const running: string[] = [];
  /** The numbers of jobs that wait, by tenant and kind: a mail about an account does not wait for those about manifests. */
  const waiting = new Map<string, number>();

  function hasRoom(tenantId: string): boolean {
    return running.length < total && running.filter((each) => each === tenantId).length < perTenant;
  }

  const countOf = (key: string) => waiting.get(key) ?? 0;

  function note(key: string, change: 1 | -1): void {
    const count = countOf(key) + change;
    if (count === 0) waiting.delete(key);
    else waiting.set(key, count);
  }

  /** Counts a job that waits, and returns within how many seconds it is tried again. */
  function wait(tenantId: string, kind: Kind): number {
    const key = `${tenantId} ${kind}`;
    const withinSeconds = SHORTEST_S + countOf(key) / WAITING_PER_S;
    note(key, 1);
    delay(() => note(key, -1), withinSeconds * 1_000).unref();
    return withinSeconds;
  }

  return {
    within<Of extends Kind>(
      kind: Of,
      work: Work<Of>,
      returned: Return<Of> = (_ctx, payload, job) => putBack(kind, payload, job),
    ): JobWork<Of> {
      return async (own, payload, job) => {
        const { tenantId } = payload;
        if (!hasRoom(tenantId)) {
          const ctx = makeContext(own.db, { kind: 'system', tenantId }, BACKGROUND);
          await ctx.write([returned(ctx, payload, { ...job, withinSeconds: wait(tenantId, kind) })]);
          return;
        }
        running.push(tenantId);
        try {
          await work(own, payload);
        } finally {
          running.splice(running.indexOf(tenantId), 1);
        }
      };
    },
  };
}
