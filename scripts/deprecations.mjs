/**
 * Adds the headers of a deprecated request to every response of the operations that take an API key. Shared responses are copied,
 * because other operations use them too.
 */
export function addDeprecationHeaders(bundle, headers) {
  const { components, paths } = bundle;
  components.headers = { ...components.headers, ...headers };
  const added = Object.fromEntries(
    Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item)))
    if (takesKey(operation))
      for (const [status, response] of Object.entries(operation.responses)) {
        const own = response.$ref ? components.responses[response.$ref.split('/').at(-1)] : response;
        operation.responses[status] = { ...own, headers: { ...own.headers, ...added } };
      }
  return bundle;
}

const takesKey = ({ security = [] }) => security.some((requirement) => 'apiKeyHeader' in requirement);
