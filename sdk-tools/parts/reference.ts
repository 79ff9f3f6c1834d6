import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readContract, type Contract } from '../contract.js';
import { nameOf } from '../names.js';
import {
  operationsOf,
  propertiesOf,
  resolveSchema,
  WITHOUT_CALL,
  type OperationEntry,
} from '../operations.js';

/** How a language writes the call of an operation. */
export type CallStyle = (call: {
  operation: OperationEntry;
  /** `packages` and `receive` */
  group: string;
  method: string;
  /** What the operation cannot do without, as the API names it. */
  required: string[];
  /** Whether the body is one of several actions, or a form. */
  isSpecial: boolean;
}) => string;

/**
 * Writes REFERENCE.md into the folder of an SDK: all operations, how to call each in this language, and what each needs. What a field
 * means is in the reference of the API, which every instance publishes.
 */
export async function writeReference(folder: string, title: string, style: CallStyle): Promise<void> {
  await writeFile(join(folder, 'REFERENCE.md'), referenceOf(await readContract(), title, style));
}

function referenceOf(contract: Contract, title: string, style: CallStyle): string {
  const operations = operationsOf(contract).filter(({ id }) => !WITHOUT_CALL.has(id));
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const sections = tags.map((tag) => {
    const own = operations.filter((operation) => operation.tag === tag);
    return `## ${tag}\n\n${HEAD}\n${own.map((operation) => rowOf(contract, operation, style)).join('\n')}\n`;
  });
  const intro = `All operations of the contract, version ${contract.info.version}. The API reference of your instance (\`/docs\`) describes each field, status and code.`;
  return `# Reference: ${title}\n\n${intro}\n\n${sections.join('\n')}`;
}

const HEAD = '| What it does | Call | Required | Operation |\n| --- | --- | --- | --- |';

function rowOf(contract: Contract, operation: OperationEntry, style: CallStyle): string {
  const { id, tag, summary } = operation;
  const { group, method } = nameOf({ operationId: id, tags: [tag] });
  const required = requiredOf(contract, operation);
  const [body] = Object.values(operation.bodies);
  const isForm = 'multipart/form-data' in operation.bodies;
  const isSpecial = body !== undefined && (isForm || resolveSchema(contract, body).oneOf !== undefined);
  const call = style({ operation, group, method, required, isSpecial });
  const names = required.map((name) => `\`${name}\``).join(', ');
  return `| ${summary} | \`${call}\` | ${names} | \`${id}\` |`;
}

function requiredOf(contract: Contract, { parameters, bodies }: OperationEntry): string[] {
  const query = parameters.filter(({ required, in: place }) => required && place !== 'header');
  const [body] = Object.values(bodies);
  if (!body) return query.map(({ name }) => name);
  const { oneOf, required = [] } = resolveSchema(contract, body);
  // A body that is one of several actions needs other fields for each.
  const fields = oneOf
    ? Object.keys(propertiesOf(contract, body)).filter((name) => name === 'action')
    : required;
  return [...query.map(({ name }) => name), ...fields];
}
