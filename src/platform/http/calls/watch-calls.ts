import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BOUNDS_OF } from '../../../../generated/bounds.js';
import { authenticate, hintOf } from '../../access/authenticate.js';
import type { Secrets } from '../../access/secrets.js';
import type { Tokens } from '../../access/tokens.js';
import type { FailureCode, FieldError } from '../../errors/errors.js';
import type { KeyCaller, UserCaller } from '../../identity/callers.js';
import type { Call, CallCredential, RefusedField } from '../../identity/call.js';
import type { Db } from '../../db/database.js';
import { sentMediaType } from '../bodies/forms.js';
import { onClosed } from '../../concurrency/when-closed.js';
import { namedParcels } from './named-parcels.js';

type Authentication = { tokens: Tokens; secrets: Secrets };

/** Takes a call and the tenant whose host it was sent to. */
type Record = (call: Call, tenantId: string, db: Db) => void;

/** Records each call with a credential of a courier, after its response or when its client has left. */
export function watchCalls(app: FastifyInstance, record: Record, using: Authentication): void {
  app.addHook('onRequest', (request, reply, done) => {
    onClosed(reply.raw, () => {
      const { tenantId, db } = request;
      const call = callOf(request, reply, using);
      if (call && tenantId !== undefined && db) record(call, tenantId, db);
    });
    done();
  });
}

/** The console sends it after a login, with the access token in the header: it makes the cookie of its session. */
const OF_CONSOLE = 'createDeviceSession';

const MAX_REFUSED = 5;
const MAX_NAME = 100;

/** Without the message, which can quote what was sent. The name can be that of a client, so it is cut. PostgreSQL stores no half character. */
const toRefused = ({ field, code, row }: FieldError): RefusedField => ({
  field: field.slice(0, MAX_NAME).toWellFormed(),
  code,
  ...(row === undefined ? {} : { row }),
});

function callOf(request: FastifyRequest, reply: FastifyReply, using: Authentication): Call | undefined {
  const { operation, failureCode = null, failedFields = [] } = request;
  if (!operation || operation.id === OF_CONSOLE) return undefined;
  const credential = credentialOf(request, reply.statusCode, using);
  if (!credential) return undefined;
  const wasSent = reply.raw.writableFinished;
  const durationMs = reply.elapsedTime;
  return {
    requestId: request.id,
    operationId: operation.id,
    status: wasSent ? reply.statusCode : null,
    code: wasSent ? failureCode : null,
    refused: wasSent ? failedFields.slice(0, MAX_REFUSED).map(toRefused) : [],
    startedMs: performance.now() - durationMs,
    durationMs,
    credential,
    isReplayed: reply.hasHeader('idempotency-replayed'),
    named: namedParcels(request, {
      kind: BOUNDS_OF[operation.id]?.[sentMediaType(request) ?? 'query'],
      isRefused: !wasSent || reply.statusCode >= 400,
    }),
  };
}

/** Returns the credential if it may be one of a courier. What is known to be invented, and that of the staff, is not. */
function credentialOf(
  request: FastifyRequest,
  status: number,
  using: Authentication,
): CallCredential | undefined {
  const caller = request.claimedCaller ?? (isRefusedByHeaders(status) ? read(request, using) : undefined);
  if (!caller || caller.tenantId !== request.tenantId) return undefined;
  if (caller.kind === 'user') return ofUser(caller, request);
  if (isUnknown(request.failureCode)) return undefined;
  if (caller.kind === 'token' && caller.courierId === null) return undefined;
  return {
    kind: caller.kind === 'key' ? 'api_key' : 'service_token',
    id: caller.kind === 'key' ? null : caller.tokenId,
    hint: hintOf(request),
    courierId: request.db?.connectionShares.courierOfKey(caller),
    keyHash: caller.keyHash,
  };
}

/** The console has its session in a cookie. Its requests are those of a person, and are not in the log. */
function ofUser(
  { userId, courierId }: Pick<UserCaller, 'userId' | 'courierId'>,
  { isOfCookie = false }: FastifyRequest,
): CallCredential | undefined {
  if (courierId === null || isOfCookie) return undefined;
  return { kind: 'access_token', id: userId, hint: null, courierId, keyHash: null };
}

/** A body that is too large or of another type is refused by its headers, before the credential is read. */
const isRefusedByHeaders = (status: number): boolean => status === 413 || status === 415;

function read(request: FastifyRequest, using: Authentication): UserCaller | KeyCaller | undefined {
  const { operation, tenantId } = request;
  if (!operation || tenantId === undefined) return undefined;
  try {
    return authenticate(request, operation, tenantId, using);
  } catch {
    // No credential, or one that names nobody.
    return undefined;
  }
}

/** Whether the database has the key or the token not at all, so that it names no courier. */
const isUnknown = (code: FailureCode | undefined): boolean =>
  code === 'key_invalid' || code === 'service_token_invalid';
