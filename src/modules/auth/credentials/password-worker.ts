import bcrypt from 'bcrypt';
import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';

/** With a hash: whether the password matches it. Otherwise: hash the password with this cost. */
export type HashTask = { password: string } & ({ hash: string } | { cost: number });

// The worker thread of password-threads.ts.
export default makeWorkerTask((task: HashTask): string | boolean =>
  'hash' in task ? bcrypt.compareSync(task.password, task.hash) : bcrypt.hashSync(task.password, task.cost),
);
