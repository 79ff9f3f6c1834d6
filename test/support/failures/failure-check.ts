import { operations, type OperationId } from '../../../generated/operations.js';
import { describeOperation } from '../service/contract.js';
import { matchFailure, type FailureBody } from './failure-templates.mjs';

type SentReply = { operationId: string; status: number; mediaType: string; text: string };
type Failure = { body: FailureBody; faults: string[]; texts: string[] };

let latest: { status: number; text: string; failure: Failure } | undefined;

/** Parses a failure and finds its messages in openapi/errors.yaml. The harness asks twice for each response. */
export function readFailure(status: number, text: string): Failure {
  if (latest?.status === status && latest.text === text) return latest.failure;
  // The response validator reports a response that is not an error envelope.
  const body = JSON.parse(text) as FailureBody;
  const failure = { body, ...matchFailure(status, body) };
  latest = { status, text, failure };
  return failure;
}

/** Returns what is wrong with the messages of a failure. Each must come from openapi/errors.yaml. */
export function failureFaults({ operationId, status, mediaType, text }: SentReply): string[] {
  if (status < 400 || mediaType !== 'application/json') return [];
  const { body, faults, texts } = readFailure(status, text);
  const docUrl = `/docs/errors#${body.code}`;
  return [
    ...faults,
    ...(body.doc_url === docUrl ? [] : [`doc_url is ${body.doc_url} instead of ${docUrl}`]),
    ...(isOperation(operationId) ? differenceFromExamples(operationId, status, body, texts) : []),
  ];
}

const isOperation = (id: string): id is OperationId => Object.hasOwn(operations, id);

/** Messages whose placeholders depend only on the operation, so that the response equals the example. */
const FIXED = [
  ...['method_not_allowed default', 'unsupported_media_type default', 'permission_denied default'],
  ...['body_too_large default', 'body_too_large file'],
];

function differenceFromExamples(
  id: OperationId,
  status: number,
  body: FailureBody,
  texts: string[],
): string[] {
  if (!texts.some((text) => FIXED.includes(text))) return [];
  const messages = exampleMessages(id, status, body.code);
  return messages.includes(body.message)
    ? []
    : [`"${body.message}" is not the message of an example: ${messages.join(' | ')}`];
}

/** Returns the messages of a code in the examples of an operation. */
export function exampleMessages(id: OperationId, status: number, code: string): string[] {
  const media = describeOperation(id).responses[String(status)]?.content?.['application/json'];
  // Failure examples have this shape; examples.test.ts checks it.
  const values = Object.values(media?.examples ?? {}).map(({ value }) => value as FailureBody);
  return values.filter((value) => value.code === code).map(({ message }) => message);
}
