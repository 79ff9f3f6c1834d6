import { orOverloaded } from '../concurrency/task-limit.js';
import { makeWorkerPool } from '../concurrency/worker-pool.js';

const POOL = {
  // The handlers' limiter admits as many calls, and so does the share of mails with bills in the worker.
  maxThreads: 2,
  // A document of 10,000 lines takes 120 MB in the worker thread.
  maxHeapMb: 512,
  // Thirty times as long as the longest document takes on an idle core.
  timeoutMs: 100_000,
};

/** Draws a document, and returns the bytes of the PDF. @throws ApiError overloaded */
export type PdfWriter<Content> = (content: Content) => Promise<Buffer>;

/**
 * Returns a function that draws documents, each in a worker thread: a thousand lines take a third of a second.
 * @param file the path of the thread's file below dist/src
 */
export function makePdfWriter<Content>(file: string): PdfWriter<Content> {
  const threads = makeWorkerPool<Content, Uint8Array>(file, POOL);
  return async (content) => {
    const bytes = await orOverloaded(threads.run(content));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
