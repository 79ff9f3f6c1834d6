import cluster from 'node:cluster';
import { join } from 'node:path';
import { ConfigError } from '../../config/config.js';
import { projectRoot } from '../../config/project-root.js';
import type { WriteFailure } from '../../platform/db/health.js';
import { removeUploadsOf } from '../../platform/files/abandoned-uploads.js';
import type { ChildLimits } from '../../platform/limits/shared/limits-for-children.js';
import type { MetricObject } from '../../platform/metrics/merge.js';
import {
  openChannel,
  type ChildCalls,
  type Place,
  type Remote,
  type Role,
  type StartOrder,
  type StopOrder,
} from './channel.js';

export type Ending = { code: number | null; signal: NodeJS.Signals | null };

/** A child process. */
export type Child = {
  role: Role;
  pid: number | undefined;
  /** Sends an order as soon as the process can receive it. */
  start(order: StartOrder): void;
  /** One that cannot receive orders yet has begun nothing, and is killed. */
  stop(order: StopOrder): void;
  readMetrics: Remote<ChildCalls>['readMetrics'];
  ping: Remote<ChildCalls>['ping'];
  noteWriteState: Remote<ChildCalls>['noteWriteState'];
  /** Resolves when it has begun its work. @throws ConfigError if it cannot */
  started: Promise<Place | undefined>;
  hasStarted(): boolean;
  /** Whether it has begun its work and has not ended. */
  isServing(): boolean;
  ended: Promise<Ending>;
  /** The metrics as last read. */
  metrics: MetricObject[];
  kill(): void;
};

export type OfChildren = {
  limits: ChildLimits;
  onReadinessAsked(): void;
  onWriteState(child: Child, failure: WriteFailure | null): void;
  onSignal(child: Child, signal: NodeJS.Signals): void;
};

const PROGRAM = join(projectRoot, 'dist', 'src', 'child.js');

// Each process accepts connections by itself. With node:cluster's own distribution, a connection that was on its way to a process that
// dies stays open and is never answered (decision 0099).
cluster.schedulingPolicy = cluster.SCHED_NONE;

/** Starts a child process. It loads what it needs, and waits for the order to begin. */
export function forkChild(
  role: Role,
  { limits, onReadinessAsked, onWriteState, onSignal }: OfChildren,
): Child {
  cluster.setupPrimary({ exec: PROGRAM, args: [role] });
  const worker = cluster.fork();
  const share = limits.open();
  let receive: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => (receive = resolve));
  let begin: (place: Place | undefined) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  let isLoaded = false;
  let isStarted = false;
  let isEnded = false;
  const started = new Promise<Place | undefined>((resolve, reject) => {
    begin = resolve;
    fail = reject;
  });
  // A process that is started again reports its failure by its end.
  started.catch(() => undefined);

  const { remote, close } = openChannel<ChildCalls>(
    {
      ...share.calls,
      loaded() {
        isLoaded = true;
        receive();
      },
      started(place) {
        isStarted = true;
        begin(place);
      },
      failed: (faults) => fail(new ConfigError(faults)),
      readinessAsked: onReadinessAsked,
      writeStateChanged: (failure) => onWriteState(child, failure),
      ping: () => undefined,
      signalled: (signal) => onSignal(child, signal),
    },
    {
      // The process may have ended.
      send: (message) => void worker.process.send(message as object, () => undefined),
      onMessage: (listener) => worker.on('message', listener),
    },
  );
  // A process that could not be started has no exit.
  const exit = new Promise<Ending>((resolve) => {
    worker.process.once('exit', (code, signal) => resolve({ code, signal }));
    worker.on('error', () => {
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });
  const kill = () => worker.process.kill('SIGKILL');
  const child: Child = {
    role,
    pid: worker.process.pid,
    start: (order) => void loaded.then(() => remote.start(order)).catch(() => undefined),
    stop(order) {
      if (isLoaded) remote.stop(order).catch(() => undefined);
      else kill();
    },
    readMetrics: () => remote.readMetrics(),
    ping: () => remote.ping(),
    noteWriteState: (failure) => remote.noteWriteState(failure),
    started,
    hasStarted: () => isStarted,
    isServing: () => isStarted && !isEnded,
    ended: exit.then((ending) => {
      isEnded = true;
      close();
      share.end();
      if (child.pid !== undefined) void removeUploadsOf(child.pid);
      fail(new ConfigError([`A process of the server ended with ${describe(ending)} before it served.`]));
      return ending;
    }),
    metrics: [],
    kill,
  };
  return child;
}

export const describe = ({ code, signal }: Ending): string => signal ?? `status ${code}`;
