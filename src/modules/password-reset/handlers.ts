import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { openResetRequests } from './request.js';
import { resetPassword } from './reset.js';

type Reply = ReplyOf<'resetPassword'>;

export function passwordResetHandlers(deps: Deps) {
  const requests = openResetRequests(deps.limits);
  return {
    resetPassword: ({ ctx, body, address, userAgent }) =>
      byAction<typeof body, Promise<Reply>>(body, {
        async request({ username }) {
          await requests.request(ctx, { username, address });
          return {
            statusCode: 200,
            message: 'If this user exists and has an e-mail address, a mail will be sent.',
          };
        },
        async reset({ token, new_password: newPassword }) {
          await resetPassword(ctx, deps, { token, newPassword, address, userAgent });
          return { statusCode: 200, message: 'Password changed. Log in with it.' };
        },
      }),
  } satisfies Partial<Handlers>;
}
