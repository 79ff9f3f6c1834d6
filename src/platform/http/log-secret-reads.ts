import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import type { HttpResponse } from './replies/responses.js';
import { attributionOf } from '../logging/request-log.js';

/**
 * Logs which caller received a secret. This is not in the audit log, because a read has a read-only transaction, and the
 * creation of secrets is already audited (decision 0028). It inspects the response, because a stored response that is
 * repeated for an Idempotency-Key contains the secret again.
 */
export function logSecretReads(request: FastifyRequest, operation: Operation, response: HttpResponse): void {
  const names: readonly string[] = operation.secretFields;
  const { statusCode, payload } = response;
  if (names.length === 0 || statusCode >= 300) return;
  const text = Array.isArray(payload) ? Buffer.concat(payload) : payload;
  // No operation with such fields responds with a file.
  if (typeof text !== 'string' && !Buffer.isBuffer(text)) return;
  const { data } = JSON.parse(text.toString()) as { data?: unknown };
  const fields = [...new Set(secretsIn(data, names))];
  if (fields.length === 0) return;
  const attributes = {
    ...attributionOf(request),
    address: request.clientAddress,
    ...targetOf(request, data),
  };
  request.log.info({ event: 'secret.read', fields, ...attributes }, 'secret.read');
}

function secretsIn(value: unknown, names: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    names.includes(name) && child !== null ? [name] : secretsIn(child, names),
  );
}

/** Returns the owner of the secret. */
function targetOf({ query, claimedCaller }: FastifyRequest, data: unknown): Record<string, string> {
  // Both are objects by the contract. The type of each value is checked below.
  const { courier_id, user_id } = (data ?? {}) as { courier_id?: unknown; user_id?: unknown };
  const { id } = query as { id?: unknown };
  const ownId =
    claimedCaller && claimedCaller.kind !== 'key' ? (claimedCaller.courierId ?? undefined) : undefined;
  const courierId = user_id === undefined ? (courier_id ?? id ?? ownId) : undefined;
  return {
    ...(typeof courierId === 'string' ? { targetCourierId: courierId } : {}),
    ...(typeof user_id === 'string' ? { targetUserId: user_id } : {}),
  };
}
