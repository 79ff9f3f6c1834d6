import type pg from 'pg';
import { isOutdatedSession, isReadOnlySession } from './connections/lost-servers.js';
import { END_STALE_SESSION } from './connections/stale-sessions.js';
import { meaningOfError, sqlStateOf } from './violations.js';

/** What errors have shown about a database. */
export type DatabaseHealth = ReturnType<typeof watchHealth>;

export type WriteFailure = keyof typeof REASONS;

/** The processes of a server tell each other whether the database stores data, so that `/ready` is the same in all of them. */
export type SharedWriteState = {
  /** Tells the other processes why the database stores nothing, or that it does again. */
  tell(failure: WriteFailure | undefined): void;
  /** Calls the listener with what another process has told. */
  onTold(listener: (failure: WriteFailure | undefined) => void): void;
};

/** For the public: they name no file and no server. */
export const REASONS = {
  disk_full: 'its disk is full',
  read_only: 'it is read-only',
  io_error: 'its disk or file system fails',
} as const;

const CACHE_MS = 1_000;

export function watchHealth(pool: pg.Pool, shared?: SharedWriteState) {
  let failure: WriteFailure | undefined;
  let damages = 0;
  let trial: Promise<void> | undefined;
  let triedAtMs = -Infinity;

  function change(found: WriteFailure | undefined): void {
    if (found !== failure) shared?.tell(found);
    failure = found;
  }

  // Each process tries by itself from then on.
  shared?.onTold((told) => (failure = told));

  async function tryAgain(): Promise<void> {
    const outcome = await tryToWrite(pool);
    // Without a connection nothing is known.
    if (outcome !== 'unknown') change(outcome === 'written' ? undefined : outcome);
    triedAtMs = performance.now();
    trial = undefined;
  }

  pool.on('acquire', (client) => {
    if (isReadOnlySession(client)) change(failure ?? 'read_only');
  });

  return {
    /** Notes an error of a request or a job. */
    note(error: unknown): void {
      if (meaningOfError(error) === 'damaged') damages += 1;
      change(failureOf(error) ?? failure);
    },
    /**
     * Returns why the database stores nothing, or undefined. After a write has failed, it tries to write, at most once per
     * second, until that succeeds. So the database needs no restart of the service.
     */
    async findWriteFailure(): Promise<WriteFailure | undefined> {
      // Concurrent calls share a trial.
      if (failure && performance.now() > triedAtMs + CACHE_MS) await (trial ??= tryAgain());
      return failure;
    },
    /** The last known reason, without a trial. */
    writeFailure: (): WriteFailure | undefined => failure,
    /** How often stored data could not be read. */
    damageCount: (): number => damages,
  };
}

function failureOf(error: unknown): WriteFailure | undefined {
  const meaning = meaningOfError(error);
  if (meaning === 'read_only') return 'read_only';
  if (meaning !== 'unwritable') return undefined;
  return sqlStateOf(error) === '53100' ? 'disk_full' : 'io_error';
}

async function tryToWrite(pool: pg.Pool): Promise<'written' | 'unknown' | WriteFailure> {
  try {
    const client = await connectAnew(pool);
    try {
      await writeAndRollBack(client, `select ${END_STALE_SESSION}`);
      client.release();
      return 'written';
    } catch (error) {
      // It may not have rolled back.
      client.release(true);
      throw error;
    }
  } catch (error) {
    // A login that may not create temporary tables cannot try. The next write shows it.
    return failureOf(error) ?? (meaningOfError(error) === 'defect' ? 'written' : 'unknown');
  }
}

/** Closes the sessions that are read-only because they began while the database was. */
async function connectAnew(pool: pg.Pool): Promise<pg.PoolClient> {
  for (;;) {
    const client = await pool.connect();
    if (!isOutdatedSession(client)) return client;
    client.release(true);
  }
}

/** More than a full disk keeps free, so that a service that recovers does not fail again at once. */
const PROBE_ROWS = 4_000;

/**
 * Writes 4 MB into a temporary table, which always needs new space on the disk, and rolls back.
 *
 * @param before a statement that the transaction begins with
 * @throws the error of PostgreSQL if it cannot write
 */
export async function writeAndRollBack(client: pg.ClientBase, before = 'select'): Promise<void> {
  await client.query('begin');
  try {
    await client.query(before);
    await client.query('create temporary table crossdock_write_probe (content text) on commit drop');
    await client.query(
      `insert into crossdock_write_probe select repeat('x', 1000) from generate_series(1, ${PROBE_ROWS})`,
    );
  } finally {
    await client.query('rollback');
  }
}
