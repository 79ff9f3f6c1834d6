import { availableParallelism } from 'node:os';
import { makeWorkerPool } from '../../../platform/concurrency/worker-pool.js';
import type { HashTask } from './password-worker.js';
import type { Hasher } from './passwords.js';

const POOL = {
  // The limiter of logins admits fewer. The others are changes of passwords.
  maxThreads: availableParallelism(),
  maxHeapMb: 32,
  // A hundred times as long as a hash of the default cost.
  timeoutMs: 20_000,
  isBackground: true,
};

/**
 * bcrypt in threads of low priority. In the threads of libuv, which bcrypt uses itself, a flood of logins took as much processor
 * time as the thread that serves all other requests (decision 0048).
 */
export function makePasswordThreads(): Hasher {
  const threads = makeWorkerPool<HashTask, string | boolean>(
    'modules/auth/credentials/password-worker.js',
    POOL,
  );
  return {
    hash: async (password, cost) => String(await threads.run({ password, cost })),
    compare: async (password, hash) => (await threads.run({ password, hash })) === true,
  };
}
