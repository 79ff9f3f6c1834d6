import { randomBytes } from 'node:crypto';
import type { OutboundRequest } from '../../platform/outbound/client.js';
import {
  customerRequests,
  isOtherMethod,
  type ReadableResponse,
  type ResponseReader,
} from '../customers/public.js';
import { keysOf, makeMask, TEST_MARK, withWrongKeys } from '../webhooks/public.js';
import type { Answer, Answered, Course } from './course.js';
import { found, type ListCheck } from './list-check.js';
import { findPages } from './pages.js';
import { findRefusal, findSlowness, isRefusedCaller, isSuccess } from './refusal.js';

/** The URL of a courier's customers. `lastReceived` is the number of records of the last synchronisation; null for none. */
export type CustomersTarget = { url: string; token: string | null; lastReceived: number | null };

/** Of the kind of the request that the address answers, also for another URL or token. */
type Ask = 'get' | 'post';

/** Checks the URL of a courier's customers. The list is read and counted as in a synchronisation, and nothing of it is kept. */
export async function checkCustomers(
  course: Course,
  target: CustomersTarget,
  readResponse: ResponseReader,
): Promise<void> {
  const { url, token } = target;
  const mask = makeMask([...(token === null ? [] : [token]), ...keysOf(url)]);
  const check = { course, mask, url, readResponse };
  const { kind, answer } = await requestList(course, target);
  if (!answer) return;
  findSlowness(course, answer, requestOf(target, kind).timeoutMs, mask);
  if (answer.outcome !== 'answered' || !isSuccess(answer)) {
    await explainRefusal(check, target, { kind, answer });
    return;
  }
  const list = await readList(check, answer);
  if (!list) return;
  findFaultsOfRecords(check, answer, list);
  if (target.lastReceived !== null && list.received < target.lastReceived * (1 - FEWER_SHARE))
    found(check, 'fewer_customers', answer, `${target.lastReceived} before, ${list.received} now`);
  await findPages(check, { answer, list, request: requestOf(target, kind) });
  await checkAuthentication(check, target, kind);
}

const FEWER_SHARE = 0.2;

/** The request of a synchronisation, marked as a test. */
function requestOf({ url, token }: Pick<CustomersTarget, 'url' | 'token'>, kind: Ask): OutboundRequest {
  const request = customerRequests(url, token)[kind];
  return { ...request, headers: { ...request.headers, ...TEST_MARK } };
}

/** As a synchronisation: GET first, and POST for an address that does not answer to it. */
async function requestList(
  course: Course,
  target: CustomersTarget,
): Promise<{ kind: Ask; answer: Answer | undefined }> {
  const answer = await course.ask('customers', requestOf(target, 'get'));
  if (!answer || !isOtherMethod(answer)) return { kind: 'get', answer };
  const posted = await course.ask('customers', requestOf(target, 'post'));
  return !posted || isOtherMethod(posted) ? { kind: 'get', answer } : { kind: 'post', answer: posted };
}

async function explainRefusal(
  { course, mask, url }: ListCheck,
  target: CustomersTarget,
  { kind, answer }: { kind: Ask; answer: Answer },
): Promise<void> {
  if (answer.outcome !== 'answered' || !isRefusedCaller(answer)) {
    findRefusal(course, answer, { url, mask });
    return;
  }
  if (target.token === null) {
    course.find('token_missing', answer, mask);
    return;
  }
  const withId = new URL(url);
  withId.searchParams.set('id', target.token);
  const asked = await course.ask('token', requestOf({ ...target, url: withId.href }, kind));
  if (asked?.outcome === 'answered' && isSuccess(asked))
    course.find('token_place', asked, mask, { detail: 'query id', isPrivate: true });
  else course.find('token_refused', answer, mask);
}

/** Reads a list, or finds why it cannot be read. */
async function readList(check: ListCheck, answer: Answered): Promise<ReadableResponse | undefined> {
  if (answer.isCut) {
    found(check, 'list_too_large', answer, 'longer than 20 MiB, or not complete in time');
    return undefined;
  }
  const list = await check.readResponse(answer.body);
  if (!('error' in list)) return list;
  found(check, list.reason, answer, list.error);
  return undefined;
}

/** Problems that skip no record. */
const HINTS = new Set<string>(['like_tracking_number', 'leading_zeros']);
const NAMED_RECORDS = 10;

function findFaultsOfRecords(check: ListCheck, answer: Answered, list: ReadableResponse): void {
  const { received, skipped, problems, isWrapped } = list;
  if (isWrapped) found(check, 'wrapped_list', answer, `${received} records in an object`);
  if (received === 0) found(check, 'empty_list', answer, 'no records');
  const indexesOf = (isMeant: (problem: (typeof problems)[number]) => boolean) =>
    [...new Set(problems.filter(isMeant).map(({ index }) => index))].slice(0, NAMED_RECORDS).join(', ');
  const isBlank = ({ field, code }: (typeof problems)[number]) =>
    field === 'user_code' && (code === 'required' || code === 'blank');
  const isRepeated = ({ code }: (typeof problems)[number]) => code === 'repeated';
  const ofRecords = [
    ['blank_codes', indexesOf(isBlank)],
    ['duplicate_codes', indexesOf(isRepeated)],
    [
      'records_skipped',
      indexesOf((problem) => !isBlank(problem) && !isRepeated(problem) && !HINTS.has(problem.code)),
    ],
  ] as const;
  for (const [code, indexes] of ofRecords)
    if (indexes !== '') found(check, code, answer, `${skipped} of ${received} skipped; records ${indexes}`);
}

/** Requests the list with a wrong token once, and then with the right one. */
async function checkAuthentication(check: ListCheck, target: CustomersTarget, kind: Ask): Promise<void> {
  const stranger = { url: withWrongKeys(target.url), token: randomBytes(24).toString('base64url') };
  const wrong = await check.course.ask('wrong_token', requestOf(stranger, kind));
  if (wrong?.outcome !== 'answered') return;
  if (isSuccess(wrong) && !wrong.isCut) {
    const list = await check.readResponse(wrong.body);
    if (!('error' in list) && list.received > 0)
      found(check, 'no_authentication', wrong, `${list.received} records`);
    return;
  }
  const after = await check.course.ask('after_wrong_token', requestOf(target, kind));
  if (after && (after.outcome !== 'answered' || isRefusedCaller(after) || after.status === 429))
    found(check, 'locked_out', after, 'the list with the right token');
}
