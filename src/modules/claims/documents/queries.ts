import { ownRows } from '../../../platform/db/filters.js';
import type { ClaimDocument, ParcelClaim } from '../../../platform/db/models/types.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { MediaType } from './document-kind.js';

/** A document without its content, as JSON: the time is a text. */
export type DocumentRow = Pick<ClaimDocument, 'id'> & {
  mediaType: MediaType;
  bytes: number;
  createdAt: string;
};

const DOCUMENT = sql`json_build_object('id', d.id, 'mediaType', d.media_type, 'bytes', octet_length(d.content), 'createdAt', d.created_at)`;

/** The documents of the claims with the alias `c`, oldest first. */
export const documentsColumn = (ctx: UserScope): Sql =>
  sql`(select coalesce(json_agg(${DOCUMENT} order by d.created_at, d.id), '[]') from claim_documents d
    where ${ownRows(ctx, 'd')} and d.tenant_id = c.tenant_id and d.claim_id = c.id) as documents`;

/** Selects and locks the claim that gets a document, so that two at once do not exceed the limit. */
export const lockedStatus = (
  ctx: UserScope,
  claimId: string,
): Sql<Pick<ParcelClaim, 'status' | 'courierId'>> =>
  once`select c.status, c.courier_id as "courierId" from parcel_claims c
    where ${ownRows(ctx, 'c')} and c.id = ${claimId}::uuid for no key update`;

/** Selects the document of the claim with this content, if it has one, and how many the claim has. One row. */
export const storedDocument = (
  ctx: UserScope,
  claimId: string,
  contentHash: string,
): Sql<{ count: number; same: DocumentRow[] }> =>
  once`select count(*)::int as count,
      coalesce(json_agg(${DOCUMENT}) filter (where d.content_hash = ${contentHash}), '[]') as same
    from claim_documents d where ${ownRows(ctx, 'd')} and d.claim_id = ${claimId}::uuid`;

type NewDocument = Pick<ClaimDocument, 'id' | 'claimId' | 'courierId' | 'contentHash'> & {
  mediaType: MediaType;
  content: Buffer;
};

export const insertDocument = (ctx: UserScope, document: NewDocument): Sql<{ document: DocumentRow }> =>
  once`insert into claim_documents as d (tenant_id, id, claim_id, courier_id, media_type, content_hash, content, submitted_by)
    values (${ctx.tenantId}::uuid, ${document.id}::uuid, ${document.claimId}::uuid, ${document.courierId}::uuid,
      ${document.mediaType}, ${document.contentHash}, ${document.content}::bytea, ${ctx.caller.userId}::uuid)
    returning ${DOCUMENT} as document`;

/** A piece is decoded in one turn of the event loop. The whole of 5 MiB took 35 to 56 ms (claim-documents.test.ts). */
const PIECE_BYTES = 256 * 1024;

/** Selects a document's content in pieces, the first one first. No row if there is no such document. */
export const selectPieces = (
  ctx: UserScope,
  id: string,
): Sql<{ id: string; mediaType: MediaType; piece: Buffer }> =>
  once`select d.id, d.media_type as "mediaType", substring(d.content from place + 1 for ${PIECE_BYTES}::int) as piece
    from claim_documents d
    cross join lateral generate_series(0, octet_length(d.content) - 1, ${PIECE_BYTES}::int) as place
    where ${ownRows(ctx, 'd')} and d.id = ${id}::uuid order by place`;
