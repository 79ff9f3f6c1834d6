import type { Handlers } from '../../../generated/handlers.js';
import { reviewPrealert } from './review.js';

export function prealertReviewHandlers() {
  return {
    async reviewPrealert({ ctx, body }) {
      const { status, packageId, isAssigned } = await reviewPrealert(ctx, body);
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
  } satisfies Partial<Handlers>;
}
