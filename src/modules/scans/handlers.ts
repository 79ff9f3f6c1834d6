import type { Handlers } from '../../../generated/handlers.js';
import type { NextStep } from './next-step.js';
import { resolveScan } from './resolve-scan.js';
import { viewResolution } from './view.js';

const MESSAGES: Record<NextStep, string> = {
  receive: 'The parcel is not received yet.',
  load: 'Load it on its manifest.',
  already_received: 'This package was already received.',
  review: 'A person must decide what happens next.',
  unknown: 'Nothing is known about this scan.',
};

export function scanHandlers() {
  return {
    async resolveScan({ ctx, body }) {
      const resolution = await resolveScan(ctx, body.scan);
      return {
        statusCode: 200,
        message: MESSAGES[resolution.next],
        data: viewResolution(ctx.caller, resolution),
      };
    },
  } satisfies Partial<Handlers>;
}
