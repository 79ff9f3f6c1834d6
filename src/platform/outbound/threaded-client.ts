import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import type { OutboundConfig } from '../../config/config.js';
import { projectRoot } from '../../config/project-root.js';
import { withTraceparent, type OutboundReply, type OutboundRequest, type OutboundSender } from './client.js';
import { describeFailure } from './failures.js';

/** A thread that has not ended a request by then, after its time limit, does nothing any more: it is replaced. */
const STUCK_MS = 30_000;

/** More than the jobs that a worker can have, so that no request waits here for another one. */
const MAX_REQUESTS = 10_000;

/** When a request that was lost with a thread is sent again. */
const AGAIN_MS = 1_000;

const MAX_SUSPECTS = 10_000;
const SUSPECT_MS = 600_000;

// Always the built file, because a thread has no compiler, even in tests.
const WORKER = join(projectRoot, 'dist', 'src', 'platform', 'outbound', 'outbound-worker.js');

export type ThreadedClient = OutboundSender & {
  /** Aborts requests in progress; their outcome is `postponed`. */
  destroy(): Promise<void>;
};

/**
 * The client of client.ts in one thread for all requests. What couriers' servers make it compute, above all for TLS, holds up nobody but
 * couriers' requests (docs/decisions/0148). If the thread ends, a new one starts, and its
 * requests are `postponed`, because their targets have not failed. A URL whose requests are lost again is `unreachable`: it may be the
 * cause.
 *
 * @param report receives why a thread has ended, or the first exception that it has survived, once for each
 * @param options only tests set them
 */
export function makeThreadedClient(
  config: OutboundConfig,
  report: (error: unknown) => void,
  { file = WORKER, stuckMs = STUCK_MS } = {},
): ThreadedClient {
  const threads = new Piscina<OutboundRequest, OutboundReply>({
    filename: file,
    // It starts with the first request, and stays: a process that calls nobody does without its 13 MB.
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: Infinity,
    // Without a signal per task: Piscina runs tasks that can be aborted one after another.
    concurrentTasksPerWorker: MAX_REQUESTS,
    // Atomics.wait would block the sockets after each request.
    atomics: 'disabled',
    // The thread must not get the process's secrets and flags.
    env: {},
    execArgv: [],
    workerData: config,
  });
  /** Whether the present thread has failed. All of its requests fail with it. */
  let hasFailed = false;
  let isDestroyed = false;
  let hasSurvived = false;
  /** The number of threads that have ended. */
  let ends = 0;
  /** The URLs of requests that were lost, with the number of the end that lost them. */
  const suspects = new LRUCache<string, number>({ max: MAX_SUSPECTS, ttl: SUSPECT_MS });
  /** While a thread ends, Piscina takes no tasks. The next task starts another thread. */
  let ended = Promise.resolve();
  threads.on('workerDestroy', () => (ends += 1));
  threads.on('workerCreate', () => {
    hasFailed = false;
    hasSurvived = false;
  });
  threads.on('error', fail);
  threads.on('message', ({ uncaught }: { uncaught: string }) => {
    if (!hasSurvived && !isDestroyed) report(new Error(uncaught));
    hasSurvived = true;
  });

  function fail(error: unknown): void {
    if (hasFailed || isDestroyed) return;
    hasFailed = true;
    report(error);
  }

  function replaceThread(): void {
    fail(new Error('The thread did not end a request in time.'));
    ended = threads.destroy();
  }

  async function run(request: OutboundRequest, startedAt: number): Promise<OutboundReply> {
    await ended;
    const endsBefore = ends;
    const timer = setTimeout(replaceThread, request.timeoutMs + stuckMs);
    try {
      if (isDestroyed) throw new Error('stopped');
      return await threads.run(request);
    } catch (error) {
      fail(error);
      const durationMs = performance.now() - startedAt;
      // A thread that lives could not do this request.
      const isCause = ends === endsBefore || (suspects.get(request.url) ?? ends) !== ends;
      if (isCause && !isDestroyed) return { outcome: 'unreachable', ...describeFailure(error), durationMs };
      suspects.set(request.url, ends);
      return { outcome: 'postponed', retryAfterMs: AGAIN_MS, durationMs };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async send(traced) {
      const startedAt = performance.now();
      const { span: _span, ...request } = withTraceparent(traced);
      const reply = await run(request, startedAt);
      if (!('body' in reply)) return reply;
      const { buffer, byteOffset, byteLength } = reply.body;
      return { ...reply, body: Buffer.from(buffer, byteOffset, byteLength) };
    },
    async destroy() {
      isDestroyed = true;
      await threads.destroy();
    },
  };
}
