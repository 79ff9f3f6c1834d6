/** Adds the rate limit headers to every response of a bundled contract whose operation can respond with 429. */
export function addRateLimitHeaders(bundle, headers) {
  const { components, paths } = bundle;
  components.headers = { ...components.headers, ...headers };
  const limited = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .filter(({ responses }) => responses?.['429']);
  const responses = [
    ...Object.values(components.responses),
    ...limited.flatMap(({ responses: own }) => Object.values(own)),
  ];
  for (const response of responses.filter(({ $ref }) => !$ref))
    response.headers = {
      ...response.headers,
      'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
      RateLimit: { $ref: '#/components/headers/RateLimit' },
    };
  return bundle;
}
