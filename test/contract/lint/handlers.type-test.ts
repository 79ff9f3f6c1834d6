// `npm run types` checks this file: an `@ts-expect-error` without an error is an error.
import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type BodyOf } from '../../../src/platform/contract/types.js';

export function needsAHandlerOfEveryOperation({ getHealth: _, ...rest }: Handlers): Handlers {
  // @ts-expect-error -- getHealth is missing
  return rest;
}

export const returnsOnlyPayloadsOfTheContract = {
  // @ts-expect-error -- prealert_id is text
  createPrealert: async () => ({ statusCode: 201, message: 'Created.', data: { prealert_id: 7 } }),
  // @ts-expect-error -- the operation does not declare 202
  deletePrealert: async () => ({ statusCode: 202, message: 'Deleted.', data: { prealert_id: '' } }),
} satisfies Pick<Handlers, 'createPrealert' | 'deletePrealert'>;

export const needsEveryAction = (body: BodyOf<'login'>): string =>
  // @ts-expect-error -- verify_2fa is missing
  byAction(body, { login: () => 'login' });
