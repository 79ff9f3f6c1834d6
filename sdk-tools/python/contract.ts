import type { Contract, Operation } from '../contract.js';

/**
 * Returns the contract as the generator of sdk/python needs it: without failures, because the hand-written layer raises an error
 * for each, and without the names of branches, which have a function of their own. Samples in other languages are left out of
 * docstrings.
 */
export function pythonContract(contract: Contract): Contract {
  const copy = structuredClone(contract);
  for (const operation of Object.values(copy.paths).flatMap((methods) => Object.values(methods)))
    if (operation) prepare(operation);
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

function leaveOut(operation: Operation, parameter: string): void {
  operation.parameters =
    operation.parameters?.filter((each) => !('name' in each && each.name === parameter)) ?? [];
}

const jsonOf = (schema: string) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
});
