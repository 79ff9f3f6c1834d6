import { createBirpc } from 'birpc';
import type { WriteFailure } from '../../platform/db/health.js';
import type { LimitCalls } from '../../platform/limits/shared/limits-for-children.js';
import type { MetricObject } from '../../platform/metrics/merge.js';
import type { PreparedDatabase } from '../prepare-database.js';

// The messages between the primary process of a server and its child processes (decision 0099).

/** What a child process does: it serves requests, or runs jobs. */
export type Role = 'api' | 'jobs';

/** What a child process needs to begin. */
export type StartOrder = {
  /** The settings of the start. A process that is started later has the same, whatever the files of secrets contain by then. */
  settings: NodeJS.ProcessEnv;
  database: Omit<PreparedDatabase, 'stop'>;
  /** Its part of the server's database connections. */
  poolSize: number;
  /** Its part of the traces that callers may have recorded. */
  tracesPerSecond: number;
};

export type StopOrder = {
  signal: NodeJS.Signals | undefined;
  /** Undefined if no load balancer has asked. A message has no Infinity. */
  readinessAskedAgoMs: number | undefined;
};

/** Where a child process serves requests. */
export type Place = { base: string; texts: string[] };

/** What the primary process tells and asks a child process. */
export type ChildCalls = {
  start(order: StartOrder): void;
  stop(order: StopOrder): void;
  readMetrics(): Promise<MetricObject[]>;
  /** Another process knows why the database stores nothing, or that it does again (null: a message has no undefined). */
  noteWriteState(failure: WriteFailure | null): void;
  /** Is answered when the event loop of the process turns. */
  ping(): void;
};

/** What a child process tells and asks the primary process. */
export type PrimaryCalls = LimitCalls & {
  /** The process can receive orders. Earlier messages would be lost. */
  loaded(): void;
  /** The process has begun its work. */
  started(place?: Place): void;
  /** The process cannot start. One line per fault. */
  failed(faults: string[]): void;
  /** The process has found out why the database stores nothing, or that it does again. */
  writeStateChanged(failure: WriteFailure | null): void;
  /** A load balancer has asked whether the server is ready. */
  readinessAsked(): void;
  /** Is answered when the event loop of the primary process turns. */
  ping(): void;
  /** The process has received a signal, and waits for the order to stop. */
  signalled(signal: NodeJS.Signals): void;
};

/** One end of a channel. */
type End = { send(message: unknown): void; onMessage(listener: (message: unknown) => void): void };

/** The functions of the other end. A call has no time limit, because it may wait for a permit: `watchPrimary` and `watchLoops` notice an end that hangs. A call rejects when the channel is closed before the answer. */
export type Remote<Calls> = { [Name in keyof Calls]: Promised<Calls[Name]> };

type Promised<Call> = Call extends (...parameters: infer Parameters) => infer Result
  ? (...parameters: Parameters) => Promise<Awaited<Result>>
  : never;

/** @param own the functions that the other end calls. Their errors are lost on the way: answers are values */
export function openChannel<RemoteCalls extends object>(
  own: ChildCalls | PrimaryCalls,
  { send, onMessage }: End,
): { remote: Remote<RemoteCalls>; close(): void } {
  const channel = createBirpc<RemoteCalls, object>(own, { post: send, on: onMessage, timeout: -1 });
  // birpc declares each function with what it returns at the other end. Through a channel it is a promise of that.
  return { remote: channel as unknown as Remote<RemoteCalls>, close: () => channel.$close() };
}
