import type { Contract, Operation, Parameter, Schema } from '../contract.js';
import { kindOf } from '../parts/times.js';

/**
 * Returns the contract as the generator of sdk/python needs it: without failures, because the hand-written layer raises an error
 * for each, and without the names of branches, which have a function of their own. Samples in other languages are left out of
 * docstrings.
 */
export function pythonContract(contract: Contract): Contract {
  const copy = structuredClone(contract);
  for (const operation of Object.values(copy.paths).flatMap((methods) => Object.values(methods)))
    if (operation) prepare(operation);
  prepareSchemas(copy);
  return copy;
}

function prepare(operation: Operation): void {
  const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
  operation.responses = Object.fromEntries(successes);
  if (operation.description)
    operation.description = operation.description.replace(/^```\w+\n.*?^```\n?/gms, '').trim();
  if (operation.operationId === 'listCustomers') {
    operation.responses['200'] = { description: 'A page of customers.', content: jsonOf('CustomerPage') };
    leaveOut(operation, 'action');
  }
}

/** Gives the times a format that the generator reads as a datetime, whose text templates/ reads and writes. Removes defaults of `limit`. */
function prepareSchemas(contract: Contract): void {
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    // Any object may be a schema; only those of times are changed.
    const schema = node as Schema;
    if (!('$ref' in schema) && kindOf(contract, schema) === 'time') {
      delete schema['pattern'];
      schema.format = 'date-time';
    }
    // The generator sends a default. The client chooses the size of a page itself.
    delete schema.properties?.['limit']?.['default'];
    const { name, schema: limit } = node as Partial<Parameter>;
    if (name === 'limit') delete limit?.['default'];
    Object.values(node).forEach(visit);
  };
  visit(contract.paths);
  visit(contract.components);
}

function leaveOut(operation: Operation, parameter: string): void {
  operation.parameters =
    operation.parameters?.filter((each) => !('name' in each && each.name === parameter)) ?? [];
}

const jsonOf = (schema: string) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
});
