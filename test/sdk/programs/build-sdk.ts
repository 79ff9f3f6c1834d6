import { join } from 'node:path';
import { runTool } from '../../../sdk-tools/tool.js';
import { projectRoot } from '../../../src/config/project-root.js';

/** Builds the TypeScript SDK if it is not up to date, as `npm run sdk -- ts` does. Outside of jest, which is slower. */
export async function buildSdk(): Promise<void> {
  const args = [join(projectRoot, 'dist/sdk-tools/sdk.js'), 'ts'];
  await runTool({ program: process.execPath, args, folder: projectRoot });
}
