import { reply } from '../../platform/contract/reply.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { IssuedCredential } from './user.js';

/** How many service tokens of a user still work, if they were counted. */
export const openTokensField = (count: number | undefined) =>
  count === undefined ? {} : { open_service_tokens: count };

/** The reply with a one-time password. */
export const replyWithCredential = (
  message: string,
  { userId, username, password, expiresAt, openTokens }: IssuedCredential & { openTokens?: number },
) =>
  reply(message, {
    user_id: userId,
    username,
    one_time_password: password,
    password_expires_at: formatDateTime(expiresAt),
    ...openTokensField(openTokens),
  });
