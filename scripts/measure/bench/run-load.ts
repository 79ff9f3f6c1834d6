import { Worker } from 'node:worker_threads';
import type { Load, LoadResult } from './programs/request-load.js';

/** Sends the load from a thread of its own. @throws with the first failed response */
export async function runLoad(load: Load): Promise<LoadResult> {
  const worker = new Worker(new URL('./programs/request-load.js', import.meta.url), { workerData: load });
  const result = await new Promise<LoadResult>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const [failure] = result.failures;
  if (failure !== undefined)
    throw new Error(`${load.template.method} ${load.template.path} returned ${failure}`);
  return result;
}
