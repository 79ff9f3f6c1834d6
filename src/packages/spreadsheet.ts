import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../root.js';
import { HEADINGS, type Cell } from './cells.js';

// Always the built file, also for the sources that the tests run: a worker starts without their compiler.
const WORKER = join(projectRoot, 'dist', 'src', 'packages', 'spreadsheet-worker.js');

// 10,000 rows take 90 MB there; beyond this the worker ends, and not the service.
const MAX_HEAP_MB = 256;

/** To start one takes as long as half a workbook of 10,000 rows; to keep one takes its heap. */
const IDLE_MS = 10_000;

export type WorkbookWriter = <Row>(rows: Row[], toCells: (row: Row) => Cell[]) => Promise<Buffer>;

/**
 * Writes workbooks of one sheet, each in a thread of its own: the library takes a third of a second for 10,000 rows
 * and cannot be interrupted. A thread that is done serves the next one for a while. How many there are at once is
 * the caller's to bound.
 */
export function makeWorkbookWriter(): WorkbookWriter {
  const idle = new Map<Worker, NodeJS.Timeout>();

  function take(): Worker {
    const [found] = idle;
    if (!found) return start();
    const [worker, ending] = found;
    clearTimeout(ending);
    idle.delete(worker);
    worker.ref();
    return worker;
  }

  function start(): Worker {
    const worker = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    // one that ends while nobody waits for it is not to be taken again
    return worker.once('exit', () => idle.delete(worker));
  }

  function keep(worker: Worker): void {
    worker.unref();
    const ending = setTimeout(() => {
      idle.delete(worker);
      void worker.terminate();
    }, IDLE_MS);
    idle.set(worker, ending.unref());
  }

  return async (rows, toCells) => {
    const worker = take();
    try {
      // as one text: copying it to the thread costs a tenth of copying 140,000 cells one by one
      const bytes = await ask(worker, JSON.stringify([[...HEADINGS], ...rows.map(toCells)]));
      keep(worker);
      return bytes;
    } catch (error) {
      void worker.terminate();
      throw error;
    }
  };
}

function ask(worker: Worker, lines: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onMessage = ({ buffer, byteOffset, byteLength }: Uint8Array) => {
      leave();
      resolve(Buffer.from(buffer, byteOffset, byteLength));
    };
    const onEnd = (reason: unknown) => {
      leave();
      reject(
        reason instanceof Error ? reason : new Error(`The spreadsheet worker ended: ${String(reason)}.`),
      );
    };
    // one by one: removeAllListeners would take Node's own along, and the worker would answer nobody
    const leave = () => {
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
    };
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
    worker.postMessage(lines);
  });
}
