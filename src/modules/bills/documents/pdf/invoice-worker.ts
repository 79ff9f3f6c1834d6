import { makeWorkerTask } from '../../../../platform/concurrency/worker-task.js';
import { drawInvoice } from './draw.js';

// The worker thread of writer.ts.
export default makeWorkerTask(drawInvoice);
