import type { Contract } from '../contract.js';
import { operationsOf, propertiesOf, resolveSchema, type OperationEntry } from '../operations.js';

/** Records per page when an SDK reads all pages. Larger pages would take longer than the time limit of a slow line. */
export const PAGE_SIZE = 500;

/** Returns how many records a page of a list can have. Undefined for an operation without `limit`. */
export function largestPageOf(
  contract: Contract,
  { parameters, bodies }: Pick<OperationEntry, 'parameters' | 'bodies'>,
): number | undefined {
  const body = bodies['application/json'];
  const limit =
    parameters.find(({ name }) => name === 'limit')?.schema ??
    (body && propertiesOf(contract, body)['limit']);
  return limit && (resolveSchema(contract, limit).maximum ?? PAGE_SIZE);
}

/** The same for an operation by its name. */
export function largestPageOfOperation(contract: Contract, id: string): number {
  const operation = operationsOf(contract).find((each) => each.id === id);
  return (operation && largestPageOf(contract, operation)) ?? PAGE_SIZE;
}
