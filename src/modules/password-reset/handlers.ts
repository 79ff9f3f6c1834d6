import type { Handlers } from '../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import { openResetRequests } from './request.js';
import { resetPassword } from './reset.js';

type Answer = ReplyOf<'resetPassword'>;

export function passwordResetHandlers(deps: Deps) {
  const requests = openResetRequests();
  return {
    resetPassword: ({ body, tenantId, address, userAgent, requestId }) =>
      byAction<typeof body, Promise<Answer>>(body, {
        async request({ username }) {
          await requests.request(deps, { tenantId, username, address });
          return {
            statusCode: 200,
            message: 'If this user exists and has an e-mail address, a mail will be sent.',
          };
        },
        async reset({ token, new_password: newPassword }) {
          await resetPassword(deps, { tenantId, token, newPassword, address, userAgent, requestId });
          return { statusCode: 200, message: 'Password changed. Log in with it.' };
        },
      }),
  } satisfies Pick<Handlers, 'resetPassword'>;
}
