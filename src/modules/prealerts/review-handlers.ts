import type { Handlers } from '../../../generated/handlers.js';
import type { Deps } from '../dependencies.js';
import { reviewPrealert } from './review.js';

export function prealertReviewHandlers({ db }: Deps) {
  return {
    async reviewPrealert({ body, caller, requestId }) {
      const { status, packageId, isAssigned } = await reviewPrealert(db, caller, requestId, body);
      const outcome = isAssigned ? 'The package was assigned to the courier.' : `The pre-alert is ${status}.`;
      return {
        statusCode: 200,
        message: `Flag cleared. ${outcome}`,
        data: {
          prealert_id: body.prealert_id,
          status,
          package_id: packageId,
          assigned: isAssigned,
        },
      };
    },
  } satisfies Pick<Handlers, 'reviewPrealert'>;
}
