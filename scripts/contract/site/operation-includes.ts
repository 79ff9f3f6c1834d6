// Parts of pages that come from the operations of the contract.
import type { Contract } from '../document/openapi.js';
import { LANGUAGES, type Samples } from '../samples/code-samples.js';
import { listOperations } from './reference/operation.js';

/** Returns the samples of a request of the contract, without that for curl. */
export function otherLanguages(calls: Samples, operationId: string, name: string | undefined): string {
  const found = calls[operationId]?.find(({ example }) => example === name || name === undefined);
  if (!found) throw new Error(`The contract has no request ${operationId} ${name ?? ''}.`);
  return LANGUAGES.filter(({ id }) => id !== 'curl')
    .map(({ id, label }) => `\`\`\`${id} tab=${label}\n${found.samples[id]}\n\`\`\``)
    .join('\n\n');
}

/** Returns a table per tag with the operations and their pages. */
export function operationTables(bundle: Contract): string {
  const operations = listOperations(bundle);
  return bundle.tags
    .map(({ name, description }) => {
      const rows = operations
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ path, method, operation: { operationId, summary } }) => {
          const request = path.startsWith('/')
            ? `\`${method.toUpperCase()} ${path}\``
            : 'a request that we send to you';
          return `| [${summary}](/docs/reference/${operationId}) | ${request} |`;
        });
      return [`## ${name}`, '', description, '', '| Operation | Request |', '|---|---|', ...rows].join('\n');
    })
    .join('\n\n');
}
