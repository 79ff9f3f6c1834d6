import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';
import { readAnswer } from './sync-answer.js';

// The thread of sync-reader.ts.
export default makeWorkerTask(readAnswer);
