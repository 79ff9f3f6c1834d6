import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../src/config/project-root.js';

/** Returns the codes of failures that the contract lists. */
export async function failureCodes(): Promise<string[]> {
  const text = await readFile(join(projectRoot, 'generated', 'openapi.json'), 'utf8');
  // scripts/contract writes this schema of the published contract.
  const { components } = JSON.parse(text) as {
    components: { schemas: { FailureCode: { 'x-extensible-enum': string[] } } };
  };
  return components.schemas.FailureCode['x-extensible-enum'];
}
