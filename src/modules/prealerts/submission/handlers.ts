import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import { NDJSON, type HandlerRequest, type ReplyOf } from '../../../platform/contract/types.js';
import { submitPrealert } from '../prealert.js';
import { describeBatch, viewBatch } from './batch-view.js';
import { submitBatch } from './submit-batch.js';

// Two paths share one operation.
type Submission = HandlerRequest<'submitPrealert'> | HandlerRequest<'submitPrealertWithoutSuffix'>;

export function prealertSubmissionHandlers() {
  return { submitPrealert: submit, submitPrealertWithoutSuffix: submit } satisfies Partial<Handlers>;
}

async function submit(request: Submission): Promise<ReplyOf<'submitPrealert'>> {
  const { ctx, query } = request;
  if (request.mediaType === NDJSON) {
    const data = viewBatch(await submitBatch(ctx, request.body, query.atomic));
    ctx.noteWrites({ share: data.created / data.total });
    return reply(describeBatch(data), data);
  }
  const data = await submitPrealert(ctx, request.body);
  return { statusCode: 201, message: 'Pre-alert created.', data };
}
