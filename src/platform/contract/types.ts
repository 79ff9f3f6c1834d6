import type { Readable } from 'node:stream';
import type { operations as Contract } from '../../../generated/contract.js';
import type { operations, OperationId } from '../../../generated/operations.js';
import type { KeyCaller, UserCaller } from '../identity/callers.js';

// Everything here is derived from the generated contract: an operation's body, query and answers are stated
// once, in openapi/.

export type { OperationId };

export type Operation = (typeof operations)[OperationId];

type JsonOf<Content> = Content extends { content: { 'application/json': infer Body } }
  ? Body
  : Content extends { content: { 'application/yaml': infer Body } }
    ? Body
    : never;

/** A file of a multipart body, spooled to disk; it is gone when the request has been answered. */
export type UploadedFile = {
  path: string;
  /** As the client calls it: never a reason to believe what is in it. */
  name: string;
  sizeBytes: number;
};

type FileField<Id extends OperationId> = (typeof operations)[Id]['fileFields'][number];

/** A form as its handler gets it: text read as the schema says, files as UploadedFile. */
type Form<Id extends OperationId, Fields> = {
  [Name in keyof Fields]: Name extends FileField<Id> ? UploadedFile : Fields[Name];
};

type ContentOf<Id extends OperationId> =
  NonNullable<Contract[Id]['requestBody']> extends { content: infer Content } ? Content : never;

/** Each kind of body that an operation takes, told apart by its media type. */
type Sent<Id extends OperationId> = {
  [Media in keyof ContentOf<Id>]: {
    mediaType: Media;
    body: Media extends 'multipart/form-data' ? Form<Id, ContentOf<Id>[Media]> : ContentOf<Id>[Media];
  };
}[keyof ContentOf<Id>];

/** An operation's request body, of any of its media types; never for an operation without one. */
export type BodyOf<Id extends OperationId> = Sent<Id>['body'];

/** The parts of an operation's path that its template names. */
export type PathOf<Id extends OperationId> = Contract[Id]['parameters'] extends { path: infer Path }
  ? Path
  : never;

type DeclaredQuery<Id extends OperationId> = Contract[Id]['parameters'] extends { query?: infer Query }
  ? NonNullable<Query>
  : never;

type Defaulted<Id extends OperationId> = (typeof operations)[Id]['queryDefaults'][number];

/** An operation's query; a parameter that has a default is always there. */
export type QueryOf<Id extends OperationId> = DeclaredQuery<Id> &
  Required<Pick<DeclaredQuery<Id>, Defaulted<Id> & keyof DeclaredQuery<Id>>>;

type SuccessCode = 200 | 201;

type BinaryMedia<Content> = Exclude<keyof Content, 'application/json' | 'application/yaml'>;

/** A file to answer with instead of the envelope; one with a name is offered for saving under it. */
export type FileReply<Media> = {
  mediaType: Media;
  content: Buffer | Readable;
  name?: string;
  headers?: Record<string, string>;
};

/** A text that never changes while the process runs: one buffer for all requests, compressed once. */
export type StaticDocument = {
  mediaType: string;
  bytes: Buffer;
  /** Names these bytes, without quotes. */
  hash: string;
  compress(encoding: 'br' | 'gzip'): Promise<Buffer>;
};

type Download<Code, Response> = Response extends { content: infer Content }
  ? [BinaryMedia<Content>] extends [never]
    ? never
    : { statusCode: Code; file: FileReply<BinaryMedia<Content>> }
  : never;

/** What platform/http/replies/envelope.ts adds is left out; a payload that is no envelope is given whole, as `body`. */
type Bare<Code, Body> = Body extends { status: 'success' }
  ? { statusCode: Code } & Omit<Body, 'status' | 'timestamp'>
  : Body extends { status: string; timestamp: number }
    ? { statusCode: Code } & Omit<Body, 'timestamp'>
    : { statusCode: Code; body: Body };

/** What a handler answers with; an operation that declares 304 may leave it to the document. */
export type ReplyOf<Id extends OperationId> =
  | EnvelopeOrFile<Id>
  | (304 extends keyof Contract[Id]['responses'] ? { statusCode: 200; document: StaticDocument } : never);

type EnvelopeOrFile<Id extends OperationId> = {
  [Code in SuccessCode & keyof Contract[Id]['responses']]:
    Bare<Code, JsonOf<Contract[Id]['responses'][Code]>> | Download<Code, Contract[Id]['responses'][Code]>;
}[SuccessCode & keyof Contract[Id]['responses']];

/** The `data` of an operation's success. */
export type DataOf<Id extends OperationId> =
  ReplyOf<Id> extends infer Reply ? (Reply extends { data: infer Data } ? Data : never) : never;

type CallerOf<Id extends OperationId> = {
  token: UserCaller;
  key: KeyCaller;
  none: undefined;
}[(typeof operations)[Id]['credential']];

export type HandlerRequest<Id extends OperationId> = {
  query: QueryOf<Id>;
  path: PathOf<Id>;
  caller: CallerOf<Id>;
  /** The tenant that answers on the request's host. */
  tenantId: string;
  requestId: string;
  /** The client's address, as far as trusted proxies tell it. */
  address: string;
  /** What the client calls itself, as it was sent. */
  userAgent: string | undefined;
} & ([Sent<Id>] extends [never] ? { body: never } : Sent<Id>);

export type Handler<Id extends OperationId> = (request: HandlerRequest<Id>) => Promise<ReplyOf<Id>>;

/** Runs the branch of a body that its `action` names; the table must name every action of the contract. */
export function byAction<Body extends { action: string }, Result>(
  body: Body,
  branches: { [Action in Body['action']]: (body: Extract<Body, { action: Action }>) => Result },
): Result {
  const action: Body['action'] = body.action;
  // as: the key was the body's own action, so that the branch takes this very body
  return (branches[action] as (body: Body) => Result)(body);
}
