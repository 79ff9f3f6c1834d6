import type { Contract } from '../contract.js';
import { nameOf } from '../names.js';
import { operationsOf, WITHOUT_CALL, type OperationEntry } from '../operations.js';
import { largestPageOf } from '../parts/page-size.js';
import { snakeCase } from './tables.js';

/** What sdk/python/resources.py needs to know of an operation. */
type ResourceRow = {
  /** In the package `api`. */
  function: string;
  /** `client.packages.receive()` */
  group: string;
  method: string;
  isList: boolean;
  isFile: boolean;
  takesKey: boolean;
  /** Sent with an API key. */
  isForKey: boolean;
};

// The client reads the events itself, because a generated union refuses a type that is added later.
const BY_HAND = 'listEvents';

export function resourceRows(contract: Contract): ResourceRow[] {
  return operationsOf(contract)
    .filter(({ id }) => !WITHOUT_CALL.has(id) && id !== BY_HAND)
    .map((operation) => rowOf(contract, operation));
}

function rowOf(contract: Contract, operation: OperationEntry): ResourceRow {
  const { id, tag, responds, parameters } = operation;
  const { group, method } = nameOf({ operationId: id, tags: [tag] });
  return {
    function: snakeCase(id),
    group: snakeCase(group),
    method: snakeCase(method),
    isList: id.startsWith('list') && isPaged(operation, contract),
    isFile: responds.length > 0 && !responds.includes('application/json'),
    takesKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    isForKey: id === 'submitPrealert',
  };
}

const isPaged = (operation: OperationEntry, contract: Contract) =>
  largestPageOf(contract, operation) !== undefined;
