import { operationsOf, refTo, resolve, type Contract, type Header } from '../document/openapi.js';

/** Adds the rate limit headers to every response of a bundled contract whose operation can respond with 429. */
export function addRateLimitHeaders(bundle: Contract, headers: Record<string, Header>): Contract {
  const { components, paths } = bundle;
  components.headers = { ...components.headers, ...headers };
  const limited = operationsOf(paths).flatMap(({ operation: { responses } }) =>
    responses['429'] ? [{ responses, refusal: resolve(bundle, responses['429']) }] : [],
  );
  const responses = [
    ...Object.values(components.responses),
    ...limited.flatMap(({ responses: own }) => Object.values(own)),
  ];
  const refusals = new Set(limited.map(({ refusal }) => refusal));
  for (const response of responses.filter(({ $ref }) => !$ref))
    response.headers = {
      ...response.headers,
      'RateLimit-Policy': refTo('headers', 'RateLimitPolicy'),
      RateLimit: refTo('headers', refusals.has(response) ? 'RateLimitUsedUp' : 'RateLimit'),
    };
  return bundle;
}
