import type { FromTask } from './task-process.js';

/** Does the one task of a process that `makeTaskProcesses` has started, and ends with the service. */
export function serveTask(work: (message: never) => unknown): void {
  const send = (sent: FromTask<unknown>) => process.send?.(sent);
  async function answer(message: never): Promise<void> {
    try {
      send({ result: await work(message) });
    } catch (error) {
      send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  process.once('disconnect', () => process.exit());
  process.once('message', (sent: { message: never }) => {
    void answer(sent.message);
  });
  send({ loaded: true });
}
