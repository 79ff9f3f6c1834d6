import type { FastifyInstance, FastifyRequest } from 'fastify';

/** The day of the release whose changelog says that the query parameter `api_key` is deprecated: 1.0.0. */
const ANNOUNCED_ON = '2026-11-23';
/** The shortest notice. /docs/versioning promises it. */
const NOTICE_MONTHS = 12;

/** A Date of RFC 9651. */
const dateItem = (day: string): string => `@${Date.parse(day) / 1000}`;

/** The end of the notice, in UTC. */
function endOfNotice(day: string): Date {
  const end = new Date(`${day}T23:59:59Z`);
  end.setUTCMonth(end.getUTCMonth() + NOTICE_MONTHS);
  return end;
}

/** RFC 9745 and RFC 8594. The link leads to what to do instead. */
const HEADERS = {
  deprecation: dateItem(ANNOUNCED_ON),
  sunset: endOfNotice(ANNOUNCED_ON).toUTCString(),
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
