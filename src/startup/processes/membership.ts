import type { Worker } from 'node:cluster';
import type { SharedWriteState, WriteFailure } from '../../platform/db/health.js';
import { watchReadiness, type ReadinessWatch } from '../../platform/http/connections/graceful-shutdown.js';
import { openLimitsOfPrimary } from '../../platform/limits/shared/limits-of-primary.js';
import type { SharedLimits } from '../../platform/limits/shared/shared-limits.js';
import type { MetricObject } from '../../platform/metrics/merge.js';
import { EXIT_MS, type Stop } from '../process.js';
import { watchPrimary } from './watch-primary.js';
import { openChannel, type Place, type PrimaryCalls, type StartOrder } from './channel.js';

/** What a child process shares with the other processes of its server. */
export type Membership = {
  /** Its part of the server's database connections. */
  poolSize: number;
  limits: SharedLimits;
  readiness: ReadinessWatch;
  writeState: SharedWriteState;
  /** Reports that the process has begun its work. */
  reportStart(place?: Place): void;
  /** Lets the primary process read the metrics. */
  offerMetrics(collect: () => Promise<MetricObject[]>): void;
  /** Calls the listener when the primary process no longer answers, and when it answers again. */
  onPrimaryChange(listener: (isAnswering: boolean) => void): void;
};

/** The connection of a child process with its primary process. */
export type Primary = {
  /** Resolves when the primary process has prepared everything. */
  order: Promise<StartOrder>;
  stop: Stop;
  reportFailure(faults: string[]): Promise<void>;
  join(poolSize: number): Membership;
};

const READINESS_REPORT_MS = 500;

/** Connects this process with its primary process. If that is lost, the process completes its requests and ends. */
export function openPrimary(worker: Worker): Primary {
  const order = promiseFromOutside<StartOrder>();
  const received = promiseFromOutside<undefined>();
  const readiness = watchReadiness();
  let isStarted = false;
  let signal: NodeJS.Signals | undefined;
  let noteWriteState: (failure: WriteFailure | undefined) => void = () => undefined;
  let collect: () => Promise<MetricObject[]> = () => Promise.resolve([]);

  function stop(by: NodeJS.Signals | undefined): void {
    signal ??= by ?? 'SIGTERM';
    if (!isStarted) process.exit(0);
    setTimeout(() => process.exit(1), EXIT_MS).unref();
    received.resolve(undefined);
  }

  const { remote, close } = openChannel<PrimaryCalls>(
    {
      start(given) {
        isStarted = true;
        order.resolve(given);
      },
      stop(given) {
        const { readinessAskedAgoMs: agoMs = Infinity } = given;
        if (agoMs < readiness.askedAgoMs()) readiness.noteAsked(agoMs);
        stop(given.signal);
      },
      readMetrics: () => collect(),
      noteWriteState: (failure) => noteWriteState(failure ?? undefined),
      ping: () => undefined,
    },
    {
      // Without the callback, a message to a primary process that is lost ends this process.
      send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
      onMessage: (listener) => process.on('message', listener),
    },
  );

  const listeners: ((isAnswering: boolean) => void)[] = [];
  const watch = watchPrimary({
    ping: () => remote.ping(),
    onChange: (isAnswering) => listeners.forEach((listener) => listener(isAnswering)),
  });

  // A message to a primary process that has just ended.
  worker.on('error', () => undefined);
  worker.on('disconnect', () => {
    // Otherwise node:cluster ends the process at once.
    worker.exitedAfterDisconnect = true;
    close();
    stop(undefined);
  });
  // Ctrl-C and systemd signal all processes of a server. The primary process knows whether a load balancer must notice first.
  for (const each of ['SIGTERM', 'SIGINT'] as const)
    process.on(each, () => void watch.ask(() => remote.signalled(each)).catch(() => stop(each)));

  remote.loaded().catch(() => undefined);
  return {
    order: order.promise,
    stop: { signal: () => signal, received: received.promise },
    // The primary process may be gone.
    reportFailure: (faults) => watch.ask(() => remote.failed(faults)).catch(() => undefined),
    join: (poolSize) => ({
      poolSize,
      limits: openLimitsOfPrimary(remote, watch.ask),
      readiness: {
        askedAgoMs: () => readiness.askedAgoMs(),
        noteAsked() {
          const isReported = readiness.askedAgoMs() < READINESS_REPORT_MS;
          readiness.noteAsked();
          if (!isReported) remote.readinessAsked().catch(() => undefined);
        },
      },
      writeState: {
        tell: (failure) => void remote.writeStateChanged(failure ?? null).catch(() => undefined),
        onTold: (listener) => void (noteWriteState = listener),
      },
      reportStart: (place) => void remote.started(place).catch(() => undefined),
      offerMetrics: (given) => void (collect = given),
      onPrimaryChange: (listener) => void listeners.push(listener),
    }),
  };
}

/** For Node 20, which has no Promise.withResolvers. */
function promiseFromOutside<Value>(): { promise: Promise<Value>; resolve(value: Value): void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve: (value) => resolve(value) };
}
