import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../../../src/config/project-root.js';

export type Markup = {
  name: string;
  namespace: string | null;
  attributes: Record<string, string>;
  text: string;
  children: Markup[];
};

/** Returns the tree of a document. @throws if XML is not well-formed */
export async function readMarkup(
  text: string,
  contentType: 'application/xml' | 'text/html',
): Promise<Markup> {
  const worker = new Worker(join(projectRoot, 'test/support/readers/markup-worker.mjs'), {
    workerData: { text, contentType },
  });
  // `once` rejects with an error of the thread.
  const [markup]: Markup[] = await once(worker, 'message');
  if (!markup) throw new Error('The thread has returned no tree.');
  return markup;
}

/** Returns the element and all below it. */
export const elementsOf = (element: Markup): Markup[] => [element, ...element.children.flatMap(elementsOf)];
