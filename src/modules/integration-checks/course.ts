import { setTimeout as sleep } from 'node:timers/promises';
import type { DiagnosisCode } from '../../../generated/diagnoses.js';
import type { components } from '../../../generated/contract.js';
import type { OutboundReply, OutboundRequest } from '../../platform/outbound/client.js';
import type { TaskDeps } from '../../platform/queue/task-context.js';
import type { Span } from '../../platform/tracing/span.js';
import { startOf, type Mask } from '../webhooks/public.js';
import type { Finding } from './finding.js';

type Requested = components['schemas']['CheckRequest'];
type Purpose = Requested['purpose'];

/** The bounds of a check. Source: the contract's createIntegrationCheck. */
const MAX_REQUESTS = 10;
const MAX_MS = 60_000;
/** A shorter wait for the rate limit of the address would find it used up again. */
const SHORTEST_WAIT_MS = 100;

const MAX_EXCERPT = 512;
const MAX_CONTENT_TYPE = 100;
const MAX_DETAIL = 300;

/** A check that ends without a result. The message is for the courier. */
export class CheckStopped extends Error {}

export type Answered = Extract<OutboundReply, { outcome: 'answered' }> & { number: number };
type Unanswered = Exclude<OutboundReply, { outcome: 'answered' | 'postponed' }> & { number: number };
/** What became of a request, and its number in the check, from 1. */
export type Answer = Answered | Unanswered;

export type FindingDetails = {
  detail?: string;
  /** Whether the response is that of a list of customers, of which nothing is kept. */
  isPrivate?: boolean;
};

/** The requests of one check, and what was found. */
export type Course = {
  /**
   * Sends a request, unless the check has used up its requests or its time. Then it returns undefined.
   * @throws CheckStopped
   */
  ask(purpose: Purpose, request: OutboundRequest): Promise<Answer | undefined>;
  /** Adds a diagnosis, once. */
  find(code: DiagnosisCode, answer: Answer, mask: Mask, details?: FindingDetails): void;
  result(): { findings: Finding[]; requests: Requested[] };
};

type CourseDeps = Pick<TaskDeps, 'outbound' | 'stopping'> & { span?: Span | undefined };

export function startCourse({ outbound, stopping, span: job }: CourseDeps): Course {
  const startedMs = performance.now();
  const requests: Requested[] = [];
  const findings = new Map<DiagnosisCode, Finding>();
  const isStopping = () => stopping.aborted;
  const hasTimeFor = (ms: number) => performance.now() - startedMs + ms <= MAX_MS;

  /** Sends it again when the rate limit of the address allows that. */
  async function send(request: OutboundRequest): Promise<Exclude<OutboundReply, { outcome: 'postponed' }>> {
    for (;;) {
      if (isStopping()) throw new CheckStopped(INTERRUPTED);
      const span = job?.startChild('integration check', {
        kind: 'client',
        attributes: { 'http.request.method': request.method },
      });
      const reply = await outbound.send({ ...request, span });
      span?.end({}, reply.outcome === 'answered' ? undefined : reply.outcome);
      if (reply.outcome !== 'postponed') {
        // The request was cancelled because this process is stopping.
        if (isStopping() && reply.outcome === 'unreachable') throw new CheckStopped(INTERRUPTED);
        return reply;
      }
      const waitMs = Math.max(SHORTEST_WAIT_MS, reply.retryAfterMs);
      if (!hasTimeFor(waitMs + request.timeoutMs)) throw new CheckStopped(BUSY);
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  return {
    async ask(purpose, request) {
      if (requests.length >= MAX_REQUESTS || !hasTimeFor(request.timeoutMs)) return undefined;
      const reply = await send(request);
      const number = requests.length + 1;
      requests.push({
        number,
        purpose,
        outcome: reply.outcome,
        http_status: reply.outcome === 'answered' ? reply.status : null,
        duration_ms: Math.round(reply.durationMs),
        error: reply.outcome === 'answered' ? null : reply.error,
      });
      return { ...reply, number };
    },
    find(code, answer, mask, details) {
      if (!findings.has(code)) findings.set(code, { code, evidence: evidenceOf(answer, mask, details) });
    },
    result: () => ({ findings: [...findings.values()], requests }),
  };
}

const INTERRUPTED = 'The service was restarted during the check. Request another one.';
const BUSY = 'The address gets too many requests of this service at the moment. Request another check later.';

function evidenceOf(
  answer: Answer,
  mask: Mask,
  { detail, isPrivate = false }: FindingDetails = {},
): Finding['evidence'] {
  const isAnswered = answer.outcome === 'answered';
  const shown = detail ?? (isAnswered ? undefined : answer.error);
  return {
    request: answer.number,
    http_status: isAnswered ? answer.status : null,
    content_type: isAnswered ? shorten(headerOf(answer, 'content-type'), mask, MAX_CONTENT_TYPE) : null,
    response_start: isAnswered && !isPrivate ? startOf(answer.body, answer.isCut, mask, MAX_EXCERPT) : null,
    detail: shorten(shown, mask, MAX_DETAIL),
  };
}

/** Returns the first value of a header of the response. */
export function headerOf({ headers }: Answered, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const shorten = (text: string | undefined, mask: Mask, maxLength: number): string | null =>
  text === undefined ? null : startOf(Buffer.from(text), false, mask, maxLength);
