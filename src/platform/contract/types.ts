import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { components, operations as Contract } from '../../../generated/contract.js';
import type { operations, OperationId } from '../../../generated/operations.js';
import type { RequestContext } from '../context/request-context.js';
import type { ApiError } from '../errors/errors.js';
import type { KeyCaller, PersonCaller, SystemCaller, TokenCaller, UserCaller } from '../identity/callers.js';

// All types here are derived from the generated contract, so that openapi/ is their only source.

export type { OperationId };

export type ManifestStatus = components['schemas']['ManifestStatus'];

export type Operation = (typeof operations)[OperationId];

type JsonOf<Content> = Content extends { content: { 'application/json': infer Body } }
  ? Body
  : Content extends { content: { 'application/yaml': infer Body } }
    ? Body
    : never;

/** A file of a multipart body, stored on disk until the request has ended. */
export type UploadedFile = {
  path: string;
  /** The name that the client sent. It says nothing reliable about the content. */
  name: string;
  sizeBytes: number;
  /** Aborted when the connection closes, or after the response: nobody needs what is read from the file any more. */
  closed: AbortSignal;
};

export const NDJSON = 'application/x-ndjson';

/** A body of lines, each of which is a JSON body of the operation. Lines that are empty are left out. */
export type Lines<Value> = {
  /** Hash of the body's bytes. */
  sha256: string;
  lines: Line<Value>[];
  /** Runs further reading of the lines as soon as no other body of the API key is read. @throws ApiError overloaded */
  limit: LimitReading;
};

export type LimitReading = <Result>(read: () => Promise<Result>) => Promise<Result>;

/** A valid line, or the error that a request with this line alone would get. */
export type Line<Value> = { number: number; value: Value } | { number: number; error: ApiError };

/** An element of a list with `x-each-item`: valid, or the error that names its fields, with what was sent. */
export type Item<Value> = { value: Value } | { error: ApiError; sent: unknown };

type ItemList<Id extends OperationId> = (typeof operations)[Id]['itemList'];

/** A JSON body as the handler receives it: the elements of its list with `x-each-item` are validated one by one. */
type WithItems<Id extends OperationId, Body> = [ItemList<Id>] extends [never]
  ? Body
  : ItemList<Id> extends null
    ? Body
    : {
        [Name in keyof Body]: Name extends ItemList<Id>
          ? Body[Name] extends (infer Value)[]
            ? Item<Value>[]
            : Body[Name]
          : Body[Name];
      };

type FileField<Id extends OperationId> = (typeof operations)[Id]['fileFields'][number];

/** A form as the handler receives it: text fields converted to the schema's types, files as UploadedFile. */
type Form<Id extends OperationId, Fields> = {
  [Name in keyof Fields]: Name extends FileField<Id> ? UploadedFile : Fields[Name];
};

type ContentOf<Id extends OperationId> =
  NonNullable<Contract[Id]['requestBody']> extends { content: infer Content } ? Content : never;

/** The bodies that an operation accepts, as a union discriminated by media type. */
type RequestContent<Id extends OperationId> = {
  [Media in keyof ContentOf<Id>]: {
    mediaType: Media;
    body: ReceivedBody<Id, Media>;
  };
}[keyof ContentOf<Id>];

type ReceivedBody<
  Id extends OperationId,
  Media extends keyof ContentOf<Id>,
> = Media extends 'multipart/form-data'
  ? Form<Id, ContentOf<Id>[Media]>
  : Media extends typeof NDJSON
    ? Lines<JsonBodyOf<Id>>
    : WithItems<Id, ContentOf<Id>[Media]>;

/** An operation's JSON body. */
export type JsonBodyOf<Id extends OperationId> =
  ContentOf<Id> extends { 'application/json': infer Body } ? Body : never;

/** An operation's request body, of any of its media types; `never` for an operation without a body. */
export type BodyOf<Id extends OperationId> = RequestContent<Id>['body'];

/** The parameters of an operation's path template. */
export type PathOf<Id extends OperationId> = Contract[Id]['parameters'] extends { path: infer Path }
  ? Path
  : never;

type DeclaredQuery<Id extends OperationId> = Contract[Id]['parameters'] extends { query?: infer Query }
  ? NonNullable<Query>
  : never;

type Defaulted<Id extends OperationId> = (typeof operations)[Id]['queryDefaults'][number];

/** An operation's query. A parameter with a default is always set. */
export type QueryOf<Id extends OperationId> = DeclaredQuery<Id> &
  Required<Pick<DeclaredQuery<Id>, Defaulted<Id> & keyof DeclaredQuery<Id>>>;

type SuccessCode = 200 | 201;

type BinaryMedia<Content> = Exclude<keyof Content, 'application/json' | 'application/yaml'>;

/** A file to send instead of the envelope. `name` sets Content-Disposition: attachment. */
export type FileReply<Media> = {
  mediaType: Media;
  content: Buffer | Readable;
  name?: string;
  headers?: Record<string, string>;
};

/** A document that does not change while the process runs: one buffer for all requests, compressed once. */
export type StaticDocument = {
  mediaType: string;
  bytes: Buffer;
  /** Hash of the bytes for the ETag, without quotes. */
  hash: string;
  compress(encoding: 'br' | 'gzip'): Promise<Buffer>;
};

type Download<Code, Response> = Response extends { content: infer Content }
  ? [BinaryMedia<Content>] extends [never]
    ? never
    : { statusCode: Code; file: FileReply<BinaryMedia<Content>> }
  : never;

/** A response without the fields that platform/http/replies/envelope.ts adds. A payload without an envelope is `body`. */
type EnvelopeFields<Code, Body> = Body extends { status: 'success' }
  ? { statusCode: Code } & Omit<Body, 'status' | 'timestamp'>
  : Body extends { status: string; timestamp: number }
    ? { statusCode: Code } & Omit<Body, 'timestamp'>
    : { statusCode: Code; body: Body };

/** A handler's result. An operation that declares 304 may return a document, which handles conditional requests. */
export type ReplyOf<Id extends OperationId> =
  | JsonOrFileReply<Id>
  | (304 extends keyof Contract[Id]['responses'] ? { statusCode: 200; document: StaticDocument } : never);

type JsonOrFileReply<Id extends OperationId> = {
  [Code in SuccessCode & keyof Contract[Id]['responses']]:
    | EnvelopeFields<Code, JsonOf<Contract[Id]['responses'][Code]>>
    | Download<Code, Contract[Id]['responses'][Code]>;
}[SuccessCode & keyof Contract[Id]['responses']];

/** The `data` of an operation's success. */
export type DataOf<Id extends OperationId> =
  ReplyOf<Id> extends infer Reply ? (Reply extends { data: infer Data } ? Data : never) : never;

type CallerOf<Id extends OperationId> = {
  token: PersonCaller | TokenOf<Id>;
  key: KeyCaller | TokenOf<Id>;
  none: undefined;
}[(typeof operations)[Id]['credential']];

/** A service token calls only operations with scopes. */
type TokenOf<Id extends OperationId> = (typeof operations)[Id]['scopes'] extends readonly []
  ? never
  : TokenCaller;

/** The context that a handler gets. An operation without a credential works in the scope of the tenant. */
type ContextOf<Id extends OperationId> = RequestContext<
  CallerOf<Id> extends infer Who extends UserCaller | KeyCaller ? Who : SystemCaller
>;

export type HandlerRequest<Id extends OperationId> = {
  ctx: ContextOf<Id>;
  query: QueryOf<Id>;
  path: PathOf<Id>;
  caller: CallerOf<Id>;
  /** The tenant of the request's host. */
  tenantId: string;
  requestId: string;
  /** The client's address, as reported by trusted proxies. */
  address: string;
  /** The User-Agent header as it was sent. */
  userAgent: string | undefined;
  /** The Accept-Language header as it was sent. Pages for people are in its language. */
  acceptLanguage: string | undefined;
  /** Whether the session cookie of a browser is the credential. */
  isOfCookie: boolean;
  /** Returns the text in the cookie of a station, or undefined in any other browser. */
  station: () => string | undefined;
} & ([RequestContent<Id>] extends [never] ? { body: never } : RequestContent<Id>) &
  (true extends (typeof operations)[Id]['keepsRawBody'] ? { signed: SignedBody } : unknown);

/** A body as it was sent, and the headers, which have its signature. */
export type SignedBody = { bytes: Buffer; headers: IncomingHttpHeaders };

export type Handler<Id extends OperationId> = (request: HandlerRequest<Id>) => Promise<ReplyOf<Id>>;

/** Calls the branch for the body's `action`. The type requires a branch for every action of the contract. */
export function byAction<Body extends { action: string }, Result>(
  body: Body,
  branches: { [Action in Body['action']]: (body: Extract<Body, { action: Action }>) => Result },
): Result {
  const action: Body['action'] = body.action;
  // The branch was chosen by the body's own action, so it accepts this body.
  return (branches[action] as (body: Body) => Result)(body);
}
