import type { FastifyRequest } from 'fastify';
import type { Operation } from '../../contract/types.js';
import { invalidFieldError } from '../../errors/errors.js';

/**
 * Rejects an `action` in a query or a body where the contract declares none. Other unknown fields are ignored, but a caller
 * who sends an action expects it to be executed. The schema validates declared actions.
 *
 * @throws ApiError validation_failed
 */
export function assertActionDeclared(
  { query, body }: Pick<FastifyRequest, 'query' | 'body'>,
  mediaType: string | undefined,
  { actionPlaces }: Operation,
): void {
  const places: readonly string[] = actionPlaces;
  const isUndeclared =
    (namesAction(query) && !places.includes('query')) ||
    (namesAction(body) && !places.includes(mediaType ?? ''));
  if (!isUndeclared) return;
  throw invalidFieldError('action', 'no_action');
}

const namesAction = (part: unknown): boolean =>
  typeof part === 'object' && part !== null && Object.hasOwn(part, 'action');
