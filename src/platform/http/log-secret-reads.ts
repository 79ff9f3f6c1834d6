import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import type { HttpResponse } from './replies/responses.js';
import { attributionOf } from '../logging/request-log.js';

/**
 * Notes in the log who was given a secret: not in the audit log, because a read has a read-only transaction, and the
 * secrets that are made are there already (decision 0028). The answer is looked at and not the handler, because an
 * answer that is repeated for an Idempotency-Key gives the secret once more.
 */
export function logSecretReads(request: FastifyRequest, operation: Operation, answer: HttpResponse): void {
  const names: readonly string[] = operation.secretFields;
  const { statusCode, payload } = answer;
  const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
  if (names.length === 0 || statusCode >= 300 || !isText) return;
  // No operation with such fields responds with a file.
  const { data } = JSON.parse(payload.toString()) as { data?: unknown };
  const fields = [...new Set(secretsIn(data, names))];
  if (fields.length === 0) return;
  const facts = { ...attributionOf(request), address: request.clientAddress, ...targetOf(request, data) };
  request.log.info({ event: 'secret.read', fields, ...facts }, 'secret.read');
}

function secretsIn(value: unknown, names: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    names.includes(name) && child !== null ? [name] : secretsIn(child, names),
  );
}

/** Whose secret it is. */
function targetOf({ query, claimedCaller }: FastifyRequest, data: unknown): Record<string, string> {
  // Both are objects by the contract; what they hold is looked at.
  const { courier_id, user_id } = (data ?? {}) as { courier_id?: unknown; user_id?: unknown };
  const { id } = query as { id?: unknown };
  const ownId = claimedCaller?.kind === 'user' ? (claimedCaller.courierId ?? undefined) : undefined;
  const courierId = user_id === undefined ? (courier_id ?? id ?? ownId) : undefined;
  return {
    ...(typeof courierId === 'string' ? { targetCourierId: courierId } : {}),
    ...(typeof user_id === 'string' ? { targetUserId: user_id } : {}),
  };
}
