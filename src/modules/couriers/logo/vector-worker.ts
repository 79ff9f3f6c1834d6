import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';
import { loadRenderer } from './renderer.js';

// The worker thread of logo-drawer.ts that draws SVGs.

/** An ordinary SVG takes a tenth. Its parts, such as embedded pictures and masks, could take gigabytes. */
const MAX_MEMORY_MIB = 160;

export default makeWorkerTask(await loadRenderer(MAX_MEMORY_MIB));
