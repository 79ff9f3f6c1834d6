import type { FastifyInstance, FastifyRequest } from 'fastify';

/** When the query parameter `api_key` was published as deprecated: 2026-11-23 00:00 UTC, as a Date of RFC 9651. */
const DEPRECATED_AT = '@1795392000';
/** Until when it works at least. /docs/versioning names the date too. */
const WORKS_UNTIL = 'Fri, 31 Dec 2027 23:59:59 GMT';

/** RFC 9745 and RFC 8594. The link leads to what to do instead. */
const HEADERS = {
  deprecation: DEPRECATED_AT,
  sunset: WORKS_UNTIL,
  link: '</docs/versioning#deprecation>; rel="deprecation"; type="text/html", </docs/versioning#deprecation>; rel="sunset"; type="text/html"',
};

/** Tells clients that send the API key in the query, because URLs end up in logs. */
export function announceDeprecations(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (sendsKeyInQuery(request)) void reply.headers(HEADERS);
    done();
  });
}

const sendsKeyInQuery = ({ operation, query }: FastifyRequest): boolean =>
  // Fastify's parser always returns an object.
  operation?.credential === 'key' && Object.hasOwn(query as object, 'api_key');
