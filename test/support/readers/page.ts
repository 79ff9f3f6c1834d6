import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../../src/config/project-root.js';

/** A mail's HTML, as a browser reads it. */
export type Page = {
  /** Which there are, in capitals. */
  tags: string[];
  attributes: string[];
  /** The texts of the title and of the headline. */
  titles: string[];
  /** The colour above it all. */
  bar: string | null;
  facts: string[][];
  /** Tracking number, house number, customer and weight of each package. */
  rows: string[][];
};

export type PageReader = { read(html: string): Promise<Page>; close(): Promise<number> };

export function openPageReader(): PageReader {
  const worker = new Worker(join(projectRoot, 'test/support/readers/page-worker.mjs'));
  const waiting = new Map<number, (page: Page) => void>();
  let broken: Error | undefined;
  worker.on('message', ({ id, page }: { id: number; page: Page }) => waiting.get(id)?.(page));
  worker.on('error', (error) => (broken = error));
  let count = 0;
  return {
    read(html) {
      if (broken) throw broken;
      const id = (count += 1);
      worker.postMessage({ id, html });
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    close: () => worker.terminate(),
  };
}
