import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../config/project-root.js';
import { makeTimeLimit, STARTING_MS, tooMuchWork, WorkerTaskError, type TaskRunner } from './task-limit.js';

// Node's own fork: each task has a process of its own, so there is nothing that a pool would keep.

export type TaskProcessOptions = {
  /** A process that exceeds it ends, whatever it does, and nothing else does. */
  maxHeapMb: number;
  /** The time limit of a task. It starts when the process has loaded. */
  timeoutMs: number;
  /** How long a task waits until its process has loaded. */
  startingMs?: number;
};

/** What the process sends: first that it has loaded, then the outcome of its task. */
export type FromTask<Result> = { loaded: true } | { result: Result } | { error: string };

/**
 * Runs each task in a process of its own, which ends with it. For files of strangers: what one leaves in memory, or makes so large that V8
 * aborts, reaches no other task and not the service. The caller limits how many run at once.
 *
 * @param file the path below dist/src of a file that calls `serveTask`. Always the built file, because a process has no compiler
 */
export function makeTaskProcesses<Message, Result>(
  file: string,
  { maxHeapMb, timeoutMs, startingMs = STARTING_MS }: TaskProcessOptions,
): TaskRunner<Message, Result> {
  return {
    async run(message, ended) {
      ended?.throwIfAborted();
      const child = fork(join(projectRoot, 'dist', 'src', file), {
        // It must not get the secrets and flags of the service.
        env: {},
        execArgv: [`--max-old-space-size=${maxHeapMb}`],
        // V8 writes pages about an end for want of memory.
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        serialization: 'advanced',
      });
      const limit = makeTimeLimit({ startingMs, timeoutMs });
      const onEnded = () => limit.fail(ended?.reason);
      ended?.addEventListener('abort', onEnded, { once: true });
      try {
        return await outcomeOf<Result>(child, { file, message }, limit);
      } finally {
        ended?.removeEventListener('abort', onEnded);
        limit.end();
        child.kill('SIGKILL');
      }
    },
  };
}

function outcomeOf<Result>(
  child: ChildProcess,
  { file, message }: { file: string; message: unknown },
  { signal, start }: ReturnType<typeof makeTimeLimit>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let hasLoaded = false;
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    child.once('error', reject);
    child.on('message', (sent: FromTask<Result>) => {
      if ('result' in sent) resolve(sent.result);
      else if ('error' in sent) reject(new WorkerTaskError('error', sent.error));
      else {
        hasLoaded = true;
        start();
        // A process that has just ended says so with "exit".
        child.send({ message }, () => {});
      }
    });
    child.once('exit', (code, by) => {
      // After the messages that the process has sent before it ended.
      setImmediate(() => reject(hasLoaded ? endOf(code, by) : notStarted(file, code)));
    });
  });
}

/** Linux kills a process that the machine has no memory for. */
const notStarted = (file: string, code: number | null): Error =>
  code === null ? tooMuchWork() : new Error(`The process ${file} did not start: ${code}.`);

/** V8 aborts for want of memory, and Linux kills. Whatever else ends a process is an error of the task. */
const endOf = (code: number | null, signal: NodeJS.Signals | null): WorkerTaskError =>
  signal === null
    ? new WorkerTaskError('error', `The process ended with ${code}.`)
    : new WorkerTaskError('memory', `The process was ended by ${signal}.`);
