import type { Operation } from '../../contract/types.js';
import { shownName } from '../../contract/sent-names.js';
import { ApiError, fieldError } from '../../errors/errors.js';

/** Names that are allowed everywhere. Clients add `_` to keep caches from answering, and assertActionDeclared handles `action`. */
const ALWAYS = ['_', 'action'];

/** The deprecated way to send an API key, which the contract does not declare as a parameter. */
const KEY = 'api_key';

const MAX_ERRORS = 20;

/**
 * Rejects query parameters that the operation does not declare. A misspelled filter would return everything. Health checks, documents
 * and logos take any, because programs that read them may add a version to the URL.
 *
 * @throws ApiError validation_failed that names each one and the ones that are allowed
 */
export function assertKnownParameters(query: unknown, { path, queryNames, credential }: Operation): void {
  if (!path.startsWith('/api/')) return;
  // Fastify parses each query into an object.
  const known = new Set<string>([...queryNames, ...ALWAYS, ...(credential === 'key' ? [KEY] : [])]);
  const unknown = Object.keys(query as object).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const errors = unknown.slice(0, MAX_ERRORS).map((name) => {
    const field = shownName(name) || 'query';
    return queryNames.length > 0
      ? fieldError(field, 'unknown_parameter', { names: queryNames.join(', ') })
      : fieldError(field, 'no_parameters');
  });
  throw new ApiError('validation_failed', { errors });
}
