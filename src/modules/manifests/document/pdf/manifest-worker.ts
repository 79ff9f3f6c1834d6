import { makeWorkerTask } from '../../../../platform/concurrency/worker-task.js';
import { drawManifest } from './draw.js';

// The worker thread that draws cargo manifests, for the writer of manifestHandlers.
export default makeWorkerTask(drawManifest);
