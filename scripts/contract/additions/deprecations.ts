import {
  nameOfRef,
  operationsOf,
  refTo,
  resolve,
  type Contract,
  type Header,
  type Operation,
  type Response,
} from '../document/openapi.js';
import { mapEntries } from '../document/records.js';

/**
 * Adds the headers of a deprecated request to every response of the operations that take an API key. A shared response that other
 * operations use too is copied.
 */
export function addDeprecationHeaders(bundle: Contract, headers: Record<string, Header>): Contract {
  const { components, paths } = bundle;
  components.headers = { ...components.headers, ...headers };
  const operations = operationsOf(paths).map(({ operation }) => operation);
  const others = new Set(operations.filter((each) => !takesKey(each)).flatMap(sharedResponses));
  const added = mapEntries(headers, (name) => refTo('headers', name));
  const withHeaders = (response: Response) => ({ ...response, headers: { ...response.headers, ...added } });
  for (const operation of operations.filter(takesKey))
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!response.$ref) {
        operation.responses[status] = withHeaders(response);
        continue;
      }
      const name = nameOfRef(response.$ref);
      const own = others.has(response.$ref) ? `${name}.WithKey` : name;
      components.responses[own] = withHeaders(resolve(bundle, response));
      operation.responses[status] = refTo('responses', own);
    }
  return bundle;
}

const takesKey = ({ security = [] }: Operation) =>
  security.some((requirement) => 'apiKeyHeader' in requirement);

const sharedResponses = ({ responses }: Operation) =>
  Object.values(responses).flatMap(({ $ref }) => $ref ?? []);
