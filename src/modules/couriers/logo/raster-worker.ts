import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';
import { loadRenderer } from './renderer.js';

// The worker thread of logo-drawer.ts that draws JPGs and PNGs.

/** A progressive JPG of 16 million pixels takes up to 256, a baseline one 140. */
const MAX_MEMORY_MIB = 256;

export default makeWorkerTask(await loadRenderer(MAX_MEMORY_MIB));
