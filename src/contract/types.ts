import type { operations as Contract } from '../../generated/contract.js';
import type { operations, OperationId } from '../../generated/operations.js';
import type { KeyCaller, UserCaller } from '../auth/callers.js';

// Everything here is derived from the generated contract: an operation's body, query and answers are stated
// once, in openapi/.

export type { OperationId };

export type Operation = (typeof operations)[OperationId];

type JsonOf<Content> = Content extends { content: { 'application/json': infer Body } }
  ? Body
  : Content extends { content: { 'application/yaml': infer Body } }
    ? Body
    : never;

/** An operation's JSON request body; undefined for an operation without one. */
export type BodyOf<Id extends OperationId> = JsonOf<NonNullable<Contract[Id]['requestBody']>>;

type DeclaredQuery<Id extends OperationId> = Contract[Id]['parameters'] extends { query?: infer Query }
  ? NonNullable<Query>
  : never;

type Defaulted<Id extends OperationId> = (typeof operations)[Id]['queryDefaults'][number];

/** An operation's query; a parameter that has a default is always there. */
export type QueryOf<Id extends OperationId> = DeclaredQuery<Id> &
  Required<Pick<DeclaredQuery<Id>, Defaulted<Id> & keyof DeclaredQuery<Id>>>;

type SuccessCode = 200 | 201;

/** What http/envelope.ts adds is left out; a payload that is no envelope is given whole, as `body`. */
type Bare<Code, Body> = Body extends { status: 'success' }
  ? { statusCode: Code } & Omit<Body, 'status' | 'timestamp'>
  : Body extends { status: string; timestamp: number }
    ? { statusCode: Code } & Omit<Body, 'timestamp'>
    : { statusCode: Code; body: Body };

/** A file to save, of a media type that the operation declares beside its JSON. */
export type FileReply<MediaType extends string = string> = {
  name: string;
  mediaType: MediaType;
  content: Buffer;
};

type TextType = 'application/json' | 'application/yaml';

type FileOf<Code, Response> = Response extends { content: infer Content }
  ? Exclude<keyof Content & string, TextType> extends infer MediaType extends string
    ? [MediaType] extends [never]
      ? never
      : { statusCode: Code; file: FileReply<MediaType> }
    : never
  : never;

/** What a handler answers with. */
export type ReplyOf<Id extends OperationId> = {
  [Code in SuccessCode & keyof Contract[Id]['responses']]:
    Bare<Code, JsonOf<Contract[Id]['responses'][Code]>> | FileOf<Code, Contract[Id]['responses'][Code]>;
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
  body: BodyOf<Id>;
  query: QueryOf<Id>;
  caller: CallerOf<Id>;
  /** The tenant that answers on the request's host. */
  tenantId: string;
  requestId: string;
  /** The client's address, as far as trusted proxies tell it. */
  address: string;
};

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
