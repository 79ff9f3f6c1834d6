import type { Handlers } from '../../../generated/handlers.js';

import { pageBeforeReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import { byAction, type DataOf, type ReplyOf } from '../../platform/contract/types.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { openClaimLimits } from './claim-limit.js';
import { addDocument, getDocument, viewDocument } from './documents/documents.js';
import { listClaims } from './list-claims.js';
import type { ClaimRow } from './queries.js';
import { giveParcel, refuseClaim, type Decided } from './review.js';
import { submitClaim } from './submit-claim.js';
import { listUnknownParcels, viewUnknown } from './unknown-parcels.js';

type Reviewed = Promise<ReplyOf<'reviewParcelClaim'>>;

export function claimHandlers(deps: Deps) {
  const limits = openClaimLimits(deps.limits);
  return {
    async claimParcel({ ctx, body, address }) {
      const data = await submitClaim(ctx, body, { address, limits });
      return { statusCode: 201, message: 'Claim stored. The warehouse decides about it.', data };
    },

    async addClaimDocument({ ctx, body }) {
      const data = await deps.bulk.limitReport(ctx.caller, () => addDocument(ctx, body));
      return { statusCode: 201, message: 'Document stored.', data };
    },

    getClaimDocument: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await deps.bulk.limitReport(ctx.caller, () => getDocument(ctx, query)),
    }),

    listParcelClaims: async ({ ctx, query }) =>
      pageBeforeReply(await listClaims(ctx, query), ['claim'], viewClaim),

    listUnknownParcels: async ({ ctx, query }) =>
      pageBeforeReply(await listUnknownParcels(ctx, query), ['parcel'], viewUnknown),

    reviewParcelClaim: ({ ctx, body }) =>
      byAction<typeof body, Reviewed>(body, {
        approve: async ({ claim_id: id, ...decision }) =>
          given(await giveParcel(ctx, { kind: 'claim', id }, decision)),
        resolve: async ({ prealert_id: id, ...decision }) =>
          given(await giveParcel(ctx, { kind: 'prealert', id }, decision)),
        async refuse({ claim_id, reason }) {
          await refuseClaim(ctx, claim_id, reason);
          return reply('Claim refused.', { package_id: null, refused_claims: 1, closed_prealerts: 0 });
        },
      }),
  } satisfies Partial<Handlers>;
}

function given({ packageId, refusedClaims, closedPrealerts }: Decided): ReplyOf<'reviewParcelClaim'> {
  const refused = countOf(refusedClaims, 'other claim was', 'other claims were');
  const others = refusedClaims === 0 ? '' : ` ${refused} refused.`;
  return reply(`The parcel has an owner.${others}`, {
    package_id: packageId,
    refused_claims: refusedClaims,
    closed_prealerts: closedPrealerts,
  });
}

const viewClaim = ({ id, documents, ...row }: ClaimRow): DataOf<'listParcelClaims'>[number] => ({
  claim_id: id,
  ...recordOf(row),
  documents: documents.map(viewDocument),
});
