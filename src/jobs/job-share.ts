import { setTimeout as delay } from 'node:timers';
import { BACKGROUND } from '../platform/audit/audit.js';
import { makeContext } from '../platform/context/request-context.js';
import { wakeDeliveryQueueWithin } from '../platform/queue/delivery-queues.js';
import { putBack, type Jobs } from '../platform/queue/jobs.js';
import type { RunningJob } from '../platform/queue/runner.js';
import type { TaskDeps } from '../platform/queue/task-context.js';

type Kind = 'deliver' | 'sendManifestMail' | 'sendAccountMail' | 'sendBillMail' | 'checkIntegration';
type Work<Of extends Kind> = (own: TaskDeps, payload: Jobs[Of]) => Promise<void>;
export type JobWork<Of extends Kind> = (own: TaskDeps, payload: Jobs[Of], job: RunningJob) => Promise<void>;

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
   */
  within<Of extends Kind>(kind: Of, work: Work<Of>): JobWork<Of>;
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

  async function returnToQueue<Of extends Kind>(kind: Of, own: TaskDeps, payload: Jobs[Of], job: RunningJob) {
    const key = `${payload.tenantId} ${kind}`;
    const withinSeconds = SHORTEST_S + countOf(key) / WAITING_PER_S;
    note(key, 1);
    delay(() => note(key, -1), withinSeconds * 1_000).unref();
    const ctx = makeContext(own.db, { kind: 'system', tenantId: payload.tenantId }, BACKGROUND);
    // A delivery queue has one waiting job, so it is not added as a further one.
    const returned =
      kind === 'deliver'
        ? wakeDeliveryQueueWithin(ctx, payload as Jobs['deliver'], withinSeconds)
        : putBack(kind, payload, { ...job, withinSeconds });
    await ctx.write([returned]);
  }

  return {
    within: (kind, work) => async (own, payload, job) => {
      const { tenantId } = payload;
      if (!hasRoom(tenantId)) return returnToQueue(kind, own, payload, job);
      running.push(tenantId);
      try {
        await work(own, payload);
      } finally {
        running.splice(running.indexOf(tenantId), 1);
      }
    },
  };
}
