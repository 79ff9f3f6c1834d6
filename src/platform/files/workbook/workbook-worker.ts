import { makeWorkerTask } from '../../concurrency/worker-task.js';
import { readWorkbookFile } from './workbook-csv.js';

// The worker thread of read-workbook.ts. The only files that import yauzl, saxes and numfmt are loaded here.
export default makeWorkerTask(readWorkbookFile);
