import type pg from 'pg';
import { ApiError, type FailureCode } from '../../errors/errors.js';
import { makeConnectionShares } from '../../limits/connection-shares.js';
import { createPool, type PoolOptions } from './pool.js';
import { awaitReplay, isBehind, readReplayDelay, type WalPosition } from './replay.js';

/** `behind`: it had not replayed in time. `failed`: any error. `avoided`: a call shortly before was behind or failed. */
export const REPLICA_OUTCOMES = ['served', 'behind', 'failed', 'avoided'] as const;

export type ReplicaOutcome = (typeof REPLICA_OUTCOMES)[number];

/** A standby of the primary that serves reports. It is optional at any time: what it does not serve, the primary serves. */
export type Replica = ReturnType<typeof openReplica>;

type AwaitPosition = (client: pg.PoolClient, position: WalPosition) => Promise<void>;

export type ReplicaOptions = Pick<PoolOptions, 'url' | 'size' | 'assumeRole'> & {
  /** How long a call waits until the replica has replayed what was committed before it. */
  maxLagMs: number;
  countTenants: () => Promise<number>;
  isAway: (error: unknown) => boolean;
  /** Called when the replica stops serving, with the reason, and when it serves again. */
  onChange(state: { isServing: boolean; reason?: unknown }): void;
};

const RETRY_MS = 1_000;

/** The codes with which the replica has served nothing, so that the primary does. */
const UNSERVED = new Set<FailureCode>(['unavailable', 'overloaded']);

export function openReplica({ maxLagMs, countTenants, isAway, onChange, ...connection }: ReplicaOptions) {
  const onError = () => undefined;
  const pool = createPool({ ...connection, onError, acceptsReadOnly: true });
  const state = { isServing: true, avoidUntilMs: 0 };
  let recordOutcome: (outcome: ReplicaOutcome, waitedMs: number) => void = () => undefined;

  function note(isServing: boolean, reason?: unknown): void {
    if (!isServing) state.avoidUntilMs = performance.now() + RETRY_MS;
    if (state.isServing === isServing) return;
    state.isServing = isServing;
    onChange({ isServing, reason });
  }

  function noteServed(waitedMs: number): void {
    note(true);
    recordOutcome('served', waitedMs);
  }

  return {
    pool,
    connectionShares: makeConnectionShares({ size: connection.size, countTenants, isAway }),
    /** Whether to try the replica at all. After a failure, one call per second tries it, and the others do not wait for it. */
    mayServe(): boolean {
      const now = performance.now();
      if (state.isServing) return true;
      if (now < state.avoidUntilMs) {
        recordOutcome('avoided', 0);
        return false;
      }
      // The next calls wait for the result of this one.
      state.avoidUntilMs = now + RETRY_MS;
      return true;
    },
    /**
     * Runs work on the replica. Resolves to undefined if the replica could not serve it.
     *
     * @param work receives the function that waits until the replica has replayed a position
     * @throws ApiError what the work throws about the caller or its records, which is as current as its rows
     */
    async serve<Result>(
      work: (awaitPosition: AwaitPosition) => Promise<Result>,
    ): Promise<{ result: Result } | undefined> {
      const replay = { waitedMs: 0, isCurrent: false };
      const awaitPosition: AwaitPosition = async (client, position) => {
        const startedMs = performance.now();
        await awaitReplay(client, position, maxLagMs).finally(
          () => (replay.waitedMs = performance.now() - startedMs),
        );
        replay.isCurrent = true;
      };
      try {
        const result = await work(awaitPosition);
        noteServed(replay.waitedMs);
        return { result };
      } catch (error) {
        if (error instanceof ApiError && !UNSERVED.has(error.code)) {
          if (replay.isCurrent) noteServed(replay.waitedMs);
          throw error;
        }
        note(false, error);
        recordOutcome(isBehind(error) ? 'behind' : 'failed', replay.waitedMs);
        return undefined;
      }
    },
    /** Returns the age of the last transaction that it has replayed; undefined if it is away. */
    readDelaySeconds: (): Promise<number | undefined> => readReplayDelay(pool).catch(() => undefined),
    /** Calls `record` with the outcome of each call from now on, and how long it waited for the replay. */
    recordOutcomes(record: (outcome: ReplicaOutcome, waitedMs: number) => void): void {
      recordOutcome = record;
    },
    close: (): Promise<void> => pool.end(),
  };
}
