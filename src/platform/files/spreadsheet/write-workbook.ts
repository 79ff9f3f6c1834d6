import { pause } from '../../concurrency/pause-when-due.js';
import type { Cell } from '../csv-cells.js';
import { orOverloaded } from '../../concurrency/task-limit.js';
import { makeWorkerPool } from '../../concurrency/worker-pool.js';
import type { Sheet } from './spreadsheet-worker.js';

const POOL = {
  // The handlers' limiter admits as many calls.
  maxThreads: 2,
  // A workbook of 10,000 rows takes 60 MB in the worker thread.
  maxHeapMb: 256,
  // A hundred times as long as the longest workbook takes on an idle core.
  timeoutMs: 100_000,
  isBackground: true,
};

export type WorkbookWriter = <Row>(
  headings: readonly string[],
  rows: Row[],
  toCells: (row: Row) => Cell[],
) => Promise<Buffer>;

/** Returns the writer of workbooks whose only sheet has this name. All writers share the worker threads. */
export type WorkbookWriters = (sheetName: 'Packages' | 'Customers' | 'Manifest') => WorkbookWriter;

/**
 * Returns functions that write workbooks with one sheet, each in a worker thread, because 10,000 rows take 0.15 s
 * and cannot be interrupted.
 */
export function makeWorkbookWriters(): WorkbookWriters {
  const threads = makeWorkerPool<Sheet, Uint8Array>('platform/files/spreadsheet/spreadsheet-worker.js', POOL);
  return (name) => async (headings, rows, toCells) => {
    // Sent as JSON texts: copying them to the thread takes a tenth of the time of copying 140,000 cells.
    const texts = [JSON.stringify([headings]), ...(await serializeRows(rows, toCells))];
    const { buffer, byteOffset, byteLength } = await orOverloaded(threads.run({ name, texts }));
    return Buffer.from(buffer, byteOffset, byteLength);
  };
}

// About two milliseconds of work, so that the event loop serves other requests in between.
const ROWS_PER_BATCH = 500;

/** Returns the rows as JSON texts, each an array of lines. */
async function serializeRows<Row>(rows: Row[], toCells: (row: Row) => Cell[]): Promise<string[]> {
  const texts: string[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_BATCH) {
    await pause();
    texts.push(JSON.stringify(rows.slice(start, start + ROWS_PER_BATCH).map(toCells)));
  }
  return texts;
}
