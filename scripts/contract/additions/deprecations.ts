/**
 * Adds the headers of a deprecated request to every response of the operations that take an API key. A shared response that other
 * operations use too is copied.
 */
export function addDeprecationHeaders(bundle, headers) {
  const { components, paths } = bundle;
  components.headers = { ...components.headers, ...headers };
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const others = new Set(operations.filter((each) => !takesKey(each)).flatMap(sharedResponses));
  const added = Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  const withHeaders = (response) => ({ ...response, headers: { ...response.headers, ...added } });
  for (const operation of operations.filter(takesKey))
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!response.$ref) {
        operation.responses[status] = withHeaders(response);
        continue;
      }
      const name = response.$ref.split('/').at(-1);
      const own = others.has(response.$ref) ? `${name}.WithKey` : name;
      components.responses[own] = withHeaders(components.responses[name]);
      operation.responses[status] = { $ref: `#/components/responses/${own}` };
    }
  return bundle;
}

const takesKey = ({ security = [] }) => security.some((requirement) => 'apiKeyHeader' in requirement);

const sharedResponses = ({ responses = {} }) => Object.values(responses).flatMap(({ $ref }) => $ref ?? []);
