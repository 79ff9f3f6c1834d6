import type { Contract } from './contract.js';
import { operationsOf, type OperationEntry } from './operations.js';

/**
 * What may be done with an operation after a lost response: `safe` ones read or replace, `key` ones are repeated with the same
 * Idempotency-Key, `never` ones are not repeated.
 */
export type Repeat = 'safe' | 'key' | 'never';

/** POST operations without an Idempotency-Key that change nothing. */
export const READS = new Set([
  'previewCourierInvoice',
  'previewRates',
  'verifyAuditLog',
  'resolveScan',
  'createDeviceSession',
]);

export function repeatOf(operation: Pick<OperationEntry, 'id' | 'method' | 'parameters'>): Repeat {
  const { id, method, parameters } = operation;
  if (parameters.some(({ name }) => name === 'Idempotency-Key')) return 'key';
  return method === 'GET' || method === 'PUT' || READS.has(id) ? 'safe' : 'never';
}

/** Returns the method and path of each operation that must not be executed twice, and takes no Idempotency-Key. */
export function notRepeatable(contract: Contract): string[] {
  const found = operationsOf(contract).filter((operation) => repeatOf(operation) === 'never');
  return found.map(({ method, path }) => `${method} ${path}`);
}

/** Returns the paths of the operations that respond with a file, to their first parameter. */
export function filePaths(contract: Contract): string[] {
  const found = operationsOf(contract).filter(respondsWithFile);
  return found.map(({ path }) => path.replace(/\{.*/, ''));
}

function respondsWithFile({ responds }: Pick<OperationEntry, 'responds'>): boolean {
  return responds.length > 0 && !responds.includes('application/json');
}
