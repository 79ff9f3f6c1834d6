import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';
import { readSyncResponse } from './sync-response.js';

// The worker thread of sync-reader.ts.
export default makeWorkerTask(readSyncResponse);
