import { isAccepted, type WebhookProbe } from '../webhooks/public.js';
import type { Answer, Answered, Course } from './course.js';
import { findKilograms, findOtherZone } from './echo.js';
import { isHtml, jsonOf, saysError, textOf } from './read-answer.js';
import { findRefusal, findSlowness, isRefusedCaller } from './refusal.js';

/** Checks the URL of a webhook: as many requests as needed, each of them a delivery of a test. */
export async function checkWebhook(course: Course, probe: WebhookProbe): Promise<void> {
  const request = probe.delivery();
  const first = await course.ask('delivery', request);
  if (!first) return;
  findSlowness(course, first, request.timeoutMs, probe.mask);
  if (first.outcome !== 'answered') findRefusal(course, first, probe);
  else if (isAccepted(probe, first.status)) await checkAccepting(course, probe, first);
  else if (isUnknownCustomer(probe, first)) {
    course.find('customer_unknown', first, probe.mask);
    await checkAuthentication(course, probe);
  } else await explainRefusal(course, probe, first);
}

async function checkAccepting(course: Course, probe: WebhookProbe, first: Answered): Promise<void> {
  if (first.status === 409) course.find('already_known', first, probe.mask);
  else if (findLostSuccess(course, probe, first)) return;
  const second = await course.ask('repeat', probe.delivery());
  if (!second) return;
  findFaultsOfRepetition(course, probe, second);
  // A receiver that could not be reached the second time refuses nothing.
  if (second.outcome === 'answered') await checkAuthentication(course, probe);
}

/** Returns whether the response is no success, whatever its status says. */
function findLostSuccess(course: Course, { mask, sent }: WebhookProbe, first: Answered): boolean {
  if (isHtml(first)) course.find('html_in_success', first, mask);
  else if (saysError(first)) course.find('error_in_success', first, mask);
  else {
    if (first.status === 200 && textOf(first).trim() === '') course.find('empty_response', first, mask);
    const content = jsonOf(first);
    const weight = findKilograms(content, sent.weightLb);
    if (weight !== undefined) course.find('weight_in_kilograms', first, mask, { detail: weight });
    const time = findOtherZone(content, sent.receivedAt);
    if (time !== undefined) course.find('time_zone_misread', first, mask, { detail: time });
    return false;
  }
  return true;
}

function findFaultsOfRepetition(course: Course, probe: WebhookProbe, second: Answer): void {
  const { mask } = probe;
  if (second.outcome !== 'answered' || second.status === 429) findRefusal(course, second, probe);
  else if (second.status === 409)
    course.find(probe.format === 'event' ? 'conflict_on_repeat' : 'already_known', second, mask);
  else if (!isAccepted(probe, second.status)) course.find('not_idempotent', second, mask);
}

/** Sends a wrong token once, and last, and then the right one again. */
async function checkAuthentication(course: Course, probe: WebhookProbe): Promise<void> {
  const { mask } = probe;
  const wrong = await course.ask('wrong_token', probe.withWrongToken());
  if (wrong?.outcome !== 'answered') return;
  if (hasPassed(probe, wrong) && !saysError(wrong)) {
    course.find('no_authentication', wrong, mask);
    return;
  }
  const after = await course.ask('after_wrong_token', probe.delivery());
  if (after && (after.outcome !== 'answered' || isRefusedCaller(after) || after.status === 429))
    course.find('locked_out', after, mask);
}

/** Whether the receiver has let the request in, and looked for the package or its customer. */
const hasPassed = (probe: WebhookProbe, answer: Answered): boolean =>
  isAccepted(probe, answer.status) || isUnknownCustomer(probe, answer);

const CUSTOMER = /customer|client|consignee|user|member|account|cliente|usuario/i;

/** Receivers of flat packages answer 404 for a customer that they do not know. */
const isUnknownCustomer = ({ format }: WebhookProbe, answer: Answered): boolean =>
  format !== 'event' && answer.status === 404 && !isHtml(answer) && CUSTOMER.test(textOf(answer));

async function explainRefusal(course: Course, probe: WebhookProbe, first: Answered): Promise<void> {
  if (isRefusedCaller(first)) {
    if (await isSignatureOfRewritten(course, probe)) return;
    await explainToken(course, probe, first);
  } else if ([400, 415, 422].includes(first.status)) await explainBody(course, probe, first);
  else if (first.status === 409) course.find('conflict_on_repeat', first, probe.mask);
  else findRefusal(course, first, probe);
}

async function isSignatureOfRewritten(course: Course, probe: WebhookProbe): Promise<boolean> {
  const answer = await course.ask('signature', probe.signedRewritten());
  if (answer?.outcome !== 'answered' || !hasPassed(probe, answer)) return false;
  course.find('signature_of_changed_body', answer, probe.mask);
  return true;
}

async function explainToken(course: Course, probe: WebhookProbe, first: Answered): Promise<void> {
  const { mask } = probe;
  for (const place of probe.otherPlaces) {
    const answer = await course.ask('token', probe.withTokenIn(place));
    if (answer?.outcome !== 'answered' || !hasPassed(probe, answer)) continue;
    course.find('token_place', answer, mask, { detail: place });
    return;
  }
  if (SIGNATURE.test(textOf(first))) course.find('signature_refused', first, mask);
  else course.find(probe.hasToken ? 'token_refused' : 'token_missing', first, mask);
}

const SIGNATURE = /signature|hmac|firma/i;
const TOKEN = /token|api.?key|unauthori[sz]ed|not authori[sz]ed/i;

const EXPECTED = {
  event: 'expects_event',
  flat: 'expects_object',
  flat_array: 'expects_array',
} as const;

async function explainBody(course: Course, probe: WebhookProbe, first: Answered): Promise<void> {
  const text = textOf(first);
  // Some answer 400 for a wrong signature or token.
  if (await isSignatureOfRewritten(course, probe)) return;
  for (const format of probe.otherFormats) {
    const answer = await course.ask('format', probe.inFormat(format));
    if (answer?.outcome !== 'answered' || !hasPassed(probe, answer) || saysError(answer)) continue;
    course.find(EXPECTED[format], answer, probe.mask);
    return;
  }
  if (SIGNATURE.test(text) || TOKEN.test(text)) await explainToken(course, probe, first);
  else course.find('body_refused', first, probe.mask);
}
