import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { projectRoot } from '../root.js';
import { makeTurns } from '../turns.js';
import { PictureFault } from './picture-fault.js';

/**
 * Takes out of an SVG what may run or load something; undefined when nothing to show remains.
 *
 * @throws PictureFault when that takes too long; Fault overloaded when too many wait
 */
export type SvgCleaner = (svg: string) => Promise<string | undefined>;

// From dist/ in tests as well: a thread runs what node can read.
const WORKER_FILE = join(projectRoot, 'dist', 'src', 'couriers', 'svg-worker.js');
// 5,000 elements took it 1.5 s on a machine with three times as much to do as it had cores
const CLEANING_MS = 10_000;
const IDLE_MS = 30_000;
/** One is cleaned and seven wait, in one line. */
const QUEUE = { places: 1, maxWaiting: 7, maxWaitMs: 15_000, retryAfterSeconds: 1 };

/** Cleans one SVG at a time in a thread of its own, which is started when needed and ended when idle. */
export function makeSvgCleaner(): SvgCleaner {
  let worker: Promise<Worker> | undefined;
  let idle: NodeJS.Timeout | undefined;
  const turns = makeTurns(QUEUE);

  return (svg) => turns.run('svg', () => clean(svg));

  async function clean(svg: string): Promise<string | undefined> {
    clearTimeout(idle);
    worker ??= startWorker();
    try {
      const thread = await worker;
      const cleaned = answerOf(thread);
      thread.postMessage(svg);
      // as: what the worker answers with
      return (await cleaned) as string | undefined;
    } catch (error) {
      await stop();
      throw error;
    } finally {
      idle = setTimeout(() => void stop(), IDLE_MS).unref();
    }
  }

  async function stop(): Promise<void> {
    const ending = worker;
    worker = undefined;
    await ending?.then((thread) => thread.terminate()).catch(() => {});
  }
}

/** A thread that has loaded its libraries: the time that takes is not the picture's. */
async function startWorker(): Promise<Worker> {
  const worker = new Worker(WORKER_FILE, {
    // none of our secrets, none of the flags that we were started with
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.unref();
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return worker;
}

function answerOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
    };
    const onMessage = (answer: unknown) => {
      settle();
      resolve(answer);
    };
    // out of time, of memory or of stack: the picture's doing
    const onEnd = () => {
      settle();
      reject(new PictureFault('The SVG takes too long to read.'));
    };
    const timer = setTimeout(onEnd, CLEANING_MS);
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
  });
}
