import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestContext } from '../context/request-context.js';
import { ApiError } from '../errors/errors.js';
import { overloaded } from '../limits/overload/overloaded.js';
import { sandboxKeyOf } from './connections/request-target.js';

/** Names a failure that a client in a sandbox wants to try. In a live tenant it changes nothing. */
const HEADER = 'crossdock-provoke';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the response is a failure that the client has asked for. */
    isProvoked?: boolean;
  }
}

const provokedBy = ({ raw, headers }: FastifyRequest): unknown =>
  sandboxKeyOf(raw) === undefined ? undefined : headers[HEADER];

const REFUSALS = {
  rate_limited: () => new ApiError('rate_limited', { retryAfterSeconds: 1 }),
  overloaded,
};

/** Returns the refusal that a request asks for, as the request rate and the overload protection refuse. Undefined outside of sandboxes. */
export function provokedRefusal(request: FastifyRequest): (() => ApiError) | undefined {
  const provoked = provokedBy(request);
  return provoked === 'rate_limited' || provoked === 'overloaded' ? REFUSALS[provoked] : undefined;
}

/**
 * Refuses a request as it asks for. Nothing of it is executed, but its credential is checked before: what a stranger provokes is a 401.
 * @throws the refusal, or what the credential is refused with
 */
export async function refuseAsAsked(
  request: FastifyRequest,
  context: Pick<RequestContext, 'assertAdmitted'>,
  refusal: () => ApiError,
): Promise<void> {
  if (request.caller === undefined) return;
  await context.assertAdmitted();
  request.isProvoked = true;
  throw refusal();
}

/**
 * Cuts the responses of a sandbox that are to be cut: the request is executed, and the connection ends within the body. A failure is not cut,
 * so that nobody hides one from the metrics.
 */
export function cutBodies(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    // A repetition gets the whole response, so that retry loops can be tried.
    const isCut = provokedBy(request) === 'cut_body' && reply.statusCode < 400;
    if (!isCut || reply.hasHeader('idempotency-replayed')) return payload;
    const part = await beginningOf(payload);
    if (part === undefined) return payload;
    request.isProvoked = true;
    const bytes = part.total ?? Number(reply.getHeader('content-length') ?? part.sent.length + 1);
    // Node ends the connection after what was written. The rest, which Content-Length announces, does not come.
    void reply.headers({ 'content-length': bytes, connection: 'close' });
    return Readable.from([part.sent]);
  });
}

/** Returns the half of a body, or the first part of one that is streamed, whose size is not known here. */
async function beginningOf(payload: unknown): Promise<{ sent: Buffer; total?: number } | undefined> {
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
    const whole = Buffer.from(payload);
    return { sent: whole.subarray(0, whole.length / 2), total: whole.length };
  }
  if (!(payload instanceof Readable)) return undefined;
  for await (const chunk of payload) return { sent: Buffer.from(chunk as Buffer) };
  return undefined;
}
