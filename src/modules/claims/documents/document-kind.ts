import { PictureError, readRaster } from '../../couriers/public.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';

export type MediaType = 'application/pdf' | 'image/jpeg' | 'image/png';

export const EXTENSIONS: Record<MediaType, string> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
};

/**
 * Returns the type of a document by its content, not by its name, and what is stored of it: a picture without its metadata, because
 * telephones write there where it was taken. A PDF stays as it is, so that a signature in it stays valid. Whoever reads it gets it as a
 * download, and a page cannot open it.
 * @throws ApiError claim_document_not_acceptable
 */
export function readDocument(bytes: Buffer): { mediaType: MediaType; content: Buffer } {
  if (isPdf(bytes)) return { mediaType: 'application/pdf', content: bytes };
  try {
    const picture = readRaster(bytes);
    if (picture) return { mediaType: picture.mediaType, content: picture.content };
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    const kind = bytes[0] === 0xff ? 'JPG' : 'PNG';
    throw notAcceptable(fieldError('document', 'document_damaged', { kind }));
  }
  throw notAcceptable(fieldError('document', 'document_kind'));
}

const notAcceptable = (error: ReturnType<typeof fieldError>) =>
  new ApiError('claim_document_not_acceptable', { errors: [error] });

/** Readers accept other bytes in front of the header, and behind the end, within these distances (PDF 1.7, implementation notes 13 and 18). */
const [HEADER_BYTES, END_BYTES] = [1_024, 1_024];

const isPdf = (bytes: Buffer): boolean =>
  bytes.subarray(0, HEADER_BYTES).includes('%PDF-') &&
  bytes.subarray(Math.max(0, bytes.length - END_BYTES)).includes('%%EOF');
