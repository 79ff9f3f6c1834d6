import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../../src/config/project-root.js';

/** The HTML of a mail as a browser parses it. */
export type Page = {
  /** The names of all elements, in capitals. */
  tags: string[];
  attributes: string[];
  /** The texts of the title and the headline. */
  titles: string[];
  /** The colour of the bar at the top. */
  bar: string | null;
  facts: string[][];
  /** Tracking number, house number, customer and weight of each package. */
  rows: string[][];
};

export type PageReader = { read(html: string): Promise<Page>; close(): Promise<number> };

export function openPageReader(): PageReader {
  const worker = new Worker(join(projectRoot, 'test/support/readers/page-worker.mjs'));
  const pending = new Map<number, (page: Page) => void>();
  let failure: Error | undefined;
  worker.on('message', ({ id, page }: { id: number; page: Page }) => pending.get(id)?.(page));
  worker.on('error', (error) => (failure = error));
  let count = 0;
  return {
    read(html) {
      if (failure) throw failure;
      const id = (count += 1);
      worker.postMessage({ id, html });
      return new Promise((resolve) => pending.set(id, resolve));
    },
    close: () => worker.terminate(),
  };
}
