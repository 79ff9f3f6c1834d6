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
  const refusals = refusalsOf(limited, components);
  for (const response of responses.filter(({ $ref }) => !$ref))
    response.headers = {
      ...response.headers,
      'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
      RateLimit: { $ref: `#/components/headers/${refusals.has(response) ? 'RateLimitUsedUp' : 'RateLimit'}` },
    };
  return bundle;
}

/** Returns the responses with status 429. */
function refusalsOf(limited, { responses }) {
  const own = limited.map(({ responses: byStatus }) => byStatus['429']);
  return new Set(
    own.map((response) => (response.$ref ? responses[response.$ref.split('/').at(-1)] : response)),
  );
}
