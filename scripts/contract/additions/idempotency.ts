import {
  isSuccess,
  operationsOf,
  refTo,
  type Contract,
  type Header,
  type Parameter,
  type Response,
} from '../document/openapi.js';

/**
 * Adds to every POST of a bundled contract the parameter `Idempotency-Key`, and to its successes the header of a repeated
 * response. failures.ts adds the failures.
 */
export function addIdempotencyKeys(
  bundle: Contract,
  { parameter, headers }: { parameter: Parameter; headers: Record<string, Header> },
): Contract {
  const { components, paths } = bundle;
  components.parameters = { ...components.parameters, IdempotencyKey: parameter };
  components.headers = { ...components.headers, ...headers };
  for (const { method, operation } of operationsOf(paths)) {
    if (method !== 'post' || operation['x-idempotency-exempt']) continue;
    // A reference stands for a parameter.
    const key = refTo('parameters', 'IdempotencyKey') as Parameter;
    operation.parameters = [...(operation.parameters ?? []), key];
    for (const [status, response] of Object.entries(operation.responses))
      if (isSuccess(status)) markReplayable(response);
  }
  return bundle;
}

function markReplayable(response: Response): void {
  if (response.$ref)
    throw new Error(
      'Define the success response of a POST inline. Changing a shared one would affect other operations.',
    );
  response.headers = { ...response.headers, 'Idempotency-Replayed': refTo('headers', 'IdempotencyReplayed') };
}
