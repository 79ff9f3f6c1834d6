import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import type { Contract, Schema } from '../contract.js';

/** The schema of the values that an open enum does not list. */
const OTHER = 'OtherValue';

/** Generates types, one function per operation and the fetch client with openapi-ts. */
export async function generateCore(contract: Contract, folder: string): Promise<void> {
  await createClient({
    input: openEnums(contract),
    output: { path: folder, importFileExtension: '.js' },
    logs: { level: 'silent' },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  });
  const types = join(folder, 'types.gen.ts');
  const text = await readFile(types, 'utf8');
  // `'a' | string` is `string` to the compiler. This keeps the listed values for autocompletion.
  const opened = text.replace(`export type ${OTHER} = string;`, `export type ${OTHER} = string & {};`);
  if (opened === text) throw new Error(`openapi-ts no longer writes ${OTHER} as an alias of string.`);
  await writeFile(types, opened);
}

/** Returns the contract with the values of open enums as types: `'pending' | 'received' | OtherValue`. */
function openEnums(contract: Contract): Record<string, unknown> {
  const opened = structuredClone(contract);
  visit(opened, (schema) => {
    const { 'x-extensible-enum': values, type, description } = schema;
    if (!values) return;
    const isNullable = type !== 'string';
    for (const name of Object.keys(schema)) Reflect.deleteProperty(schema, name);
    const known = { type: 'string', enum: values.filter((value) => value !== null) };
    const other = { $ref: `#/components/schemas/${OTHER}` };
    Object.assign(schema, { anyOf: [known, other, ...(isNullable ? [{ type: 'null' }] : [])] });
    if (description) schema.description = description;
  });
  opened.components.schemas[OTHER] = { type: 'string', description: 'A value that a later version added.' };
  return opened;
}

function visit(node: unknown, see: (schema: Schema) => void): void {
  if (typeof node !== 'object' || node === null) return;
  // Any object may be a schema; only those with `x-extensible-enum` are changed.
  if (!Array.isArray(node)) see(node as Schema);
  for (const child of Object.values(node)) visit(child, see);
}
