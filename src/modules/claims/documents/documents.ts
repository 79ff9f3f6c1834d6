import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { auditLater } from '../../../platform/audit/audit.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import type { BodyOf, DataOf, FileReply, QueryOf } from '../../../platform/contract/types.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { newId } from '../../../platform/values/ids.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { EXTENSIONS, readDocument } from './document-kind.js';
import { insertDocument, lockedStatus, selectPieces, storedDocument, type DocumentRow } from './queries.js';

/** The contract says so too. */
const MAX_DOCUMENTS = 5;

/** A courier wrote the file, and staff open it. */
const HEADERS = { 'content-security-policy': "default-src 'none'; sandbox" };

/**
 * Stores a document of an open claim. It reads no package, so its response cannot depend on whether the claimed parcel exists
 * (decision 0120). The same file again returns the document that it is. Locks the claim.
 * @throws ApiError claim_document_not_acceptable, parcel_claim_not_found, parcel_claim_decided, too_many_claim_documents
 */
export async function addDocument(
  ctx: UserContext,
  { claim_id: claimId, document: file }: BodyOf<'addClaimDocument'>,
): Promise<DataOf<'addClaimDocument'>> {
  const { mediaType, content } = readDocument(await readFile(file.path));
  const contentHash = createHash('sha256').update(content).digest('hex');
  return ctx.write(async (tx) => {
    const [[claim], [stored]] = await tx.query([
      lockedStatus(tx, claimId),
      storedDocument(tx, claimId, contentHash),
    ]);
    if (!claim || !stored) throw new ApiError('parcel_claim_not_found');
    if (claim.status !== 'open')
      throw new ApiError('parcel_claim_decided', { args: { status: claim.status } });
    const [same] = stored.same;
    if (same) {
      ctx.noteWrites({ share: 0 });
      return viewDocument(same);
    }
    if (stored.count >= MAX_DOCUMENTS)
      throw new ApiError('too_many_claim_documents', { args: { limit: MAX_DOCUMENTS } });
    const { courierId } = claim;
    const document = { id: newId(), claimId, courierId, contentHash, mediaType, content };
    const [inserted] = await tx.query(insertDocument(tx, document));
    if (!inserted) throw new Error('An inserted document was not returned.');
    const after = { document_id: document.id, media_type: mediaType, content_hash: contentHash };
    auditLater(tx, 'parcel_claim.document_added', claimId, { after });
    return viewDocument(inserted.document);
  });
}

/**
 * Returns the file of a document.
 * @throws ApiError claim_document_not_found
 */
export async function getDocument(
  ctx: UserContext,
  { document_id: id }: QueryOf<'getClaimDocument'>,
): Promise<FileReply<keyof typeof EXTENSIONS>> {
  const [pieces] = await ctx.read([selectPieces(ctx, id)]);
  const [first] = pieces;
  if (!first) throw new ApiError('claim_document_not_found');
  const { mediaType } = first;
  const content = Buffer.concat(pieces.map(({ piece }) => piece));
  return { mediaType, content, name: `claim-${first.id}.${EXTENSIONS[mediaType]}`, headers: HEADERS };
}

export const viewDocument = ({
  id,
  mediaType,
  bytes,
  createdAt,
}: DocumentRow): DataOf<'addClaimDocument'> => ({
  document_id: id,
  media_type: mediaType,
  bytes,
  created_at: formatDateTime(new Date(createdAt)),
});
