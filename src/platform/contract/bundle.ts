import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../config/project-root.js';

export type Schema = { [key: string]: unknown };

/** The published contract: complete as JSON and YAML, and reduced for code generators. */
export type ContractFiles = { json: Buffer; yaml: Buffer; sdk: Buffer };

/** Reads what /openapi.json, /openapi.yaml and /openapi.sdk.json serve. */
export async function readContract(): Promise<ContractFiles> {
  const read = (name: string) => readFile(join(projectRoot, 'generated', name));
  const [json, yaml, sdk] = await Promise.all([
    read('openapi.json'),
    read('openapi.yaml'),
    read('openapi.sdk.json'),
  ]);
  return { json, yaml, sdk };
}

/** A route of the contract with its request schemas, which `npm run generate` has resolved. */
export type ContractRoute = { method: string; url: string; schema: Schema & { operationId: string } };

export async function readRoutes(): Promise<ContractRoute[]> {
  // Our generator wrote this file.
  return JSON.parse(await readFile(join(projectRoot, 'generated', 'routes.json'), 'utf8')) as ContractRoute[];
}
