import type { PersonContext } from '../../../platform/context/request-context.js';
import type { Confirmation, Settle } from './own-password.js';
import { confirmAccess, confirmIfSent } from './recent-login.js';

/** What a request sends with an action that gives somebody access. */
type Sent = { current_password?: string | undefined };

type Request = { ctx: PersonContext; deps: Confirmation['deps'] } & Confirmation['client'];

/** Confirms the actions of a request that give somebody access: by a recent login or the own password (decision 0135). */
export function confirming({ ctx, deps, address, userAgent }: Request) {
  const confirmationOf = ({ current_password: password }: Sent): Confirmation => ({
    ...{ deps, password },
    client: { address, userAgent },
  });
  return {
    confirmationOf,
    confirmed: <Result>(sent: Sent, work: (settle?: Settle) => Promise<Result>) =>
      confirmAccess(ctx, confirmationOf(sent), work),
    /** For work whose transaction shows whether it gives anybody access. */
    confirmedIfSent: <Result>(sent: Sent, work: (settle?: Settle) => Promise<Result>) =>
      confirmIfSent(ctx, confirmationOf(sent), work),
  };
}
