import type { components } from '../../../generated/contract.js';

/** A call of a credential that names a courier. */
export type Call = {
  requestId: string;
  operationId: string;
  /** Null if the client closed the connection before the response was complete. */
  status: number | null;
  code: components['schemas']['Failure']['code'] | null;
  /** The first fields that the failure refuses. */
  refused: RefusedField[];
  /** Of the monotonic clock of this process. */
  startedMs: number;
  durationMs: number;
  credential: CallCredential;
  isReplayed: boolean;
  /** What the call named as parcels, as it was sent. It is read when the call is written. */
  named: string[];
};

/** A field that a failure refuses: `row` is that of a file or a line. */
export type RefusedField = Pick<components['schemas']['FieldError'], 'field' | 'code' | 'row'>;

/** The credential of a call, and its courier if that is known. */
export type CallCredential = {
  kind: components['schemas']['ApiCallCredential'];
  /** The service token, or the user of an access token. */
  id: string | null;
  /** The end of the secret. */
  hint: string | null;
  /** Undefined if this process has not seen the database admit the credential. Then the database compares `keyHash`. */
  courierId: string | undefined;
  keyHash: string | null;
};

/** Whether a call is kept whatever share of the successes is. */
export const isFailure = ({ status }: Pick<Call, 'status'>): boolean => status === null || status >= 400;
