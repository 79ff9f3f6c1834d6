import { serveTask } from '../../concurrency/serve-task.js';
import { readWorkbookFile } from './workbook-csv.js';

// The process of read-workbook.ts. The only files that import yauzl, saxes and numfmt are loaded here.
serveTask(readWorkbookFile);
