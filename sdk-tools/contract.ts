import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../src/config/project-root.js';

/** The parts of an OpenAPI document that the generators of the SDKs read. */
export type Contract = {
  info: { version: string };
  paths: Record<string, Record<string, Operation | undefined>>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
};

export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description?: string; content?: Record<string, unknown> }>;
};

export type Parameter = { name: string; in: string; required?: boolean; schema?: Schema };
export type Reference = { $ref: string };
export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  required?: string[];
  allOf?: Schema[];
  oneOf?: Schema[];
  maximum?: number;
  properties?: Record<string, Schema>;
  description?: string;
  'x-extensible-enum'?: unknown[];
} & Record<string, unknown>;

export const CONTRACT_FILE = join(projectRoot, 'generated', 'openapi.sdk.json');

export async function readContract(): Promise<Contract> {
  // Our generator wrote this file.
  return JSON.parse(await readFile(CONTRACT_FILE, 'utf8')) as Contract;
}
