import type { IncomingMessage } from 'node:http';
import type { FaultPlan } from '../../../sdk-tools/faults/proxy.js';
import type { Fault } from '../../../sdk-tools/faults/faults.js';
import { rounds } from '../harness/effort.js';
import { RETRIES } from '../../../sdk-tools/retries.js';

/** One call of an SDK through a proxy with faults, and how it must end. */
export type FaultCase = {
  title: string;
  action: 'submit' | 'batch' | 'login' | 'read' | 'delete' | 'download';
  plan: FaultPlan;
  /** Instead of a new number. */
  trackingNumber?: string;
  /** Options of the client. Without them, it has its defaults. */
  timeoutSeconds?: number;
  lastAttemptSeconds?: number;
  maxRetries?: number;
  ends: Ending;
  /** How many attempts there are. With a short time limit, a busy machine needs more. */
  attempts: number | [least: number, most: number];
  /** From the first attempt to the end of the last, at the most, without the slowness of this machine. */
  withinSeconds: number;
};

/** `value`: it succeeds. `no response` and `timeout` are the SDK's own errors. A number is the status of a refusal. */
type Ending = 'value' | 'no response' | 'timeout' | number;

/** The time limit of the calls that wait for one. A busy machine still answers within it. */
const SHORT_SECONDS = 4;
const FIRST_PAUSE = RETRIES.pause.first_seconds;

const notLogin = ({ url }: IncomingMessage) => !url?.endsWith('/login.php');

const ONCE: Fault[] = [
  'lost',
  'cut',
  'cut_chunked',
  'cut_unnoticed',
  'reset',
  'http_408',
  'http_429',
  'http_429_date',
  'in_progress',
  'http_500',
  'http_502',
  'http_503',
  'http_504',
  'http_520',
  'http_524',
  'http_527',
  'http_530',
  'portal',
];
const NEVER_ENDING: Fault[] = ['silent', 'silent_in_body', 'slow'];

const submitted = (fault: Fault, more: Partial<FaultCase> = {}): FaultCase => ({
  title: `a write is repeated after ${fault}`,
  action: 'submit',
  plan: { faults: [fault] },
  ends: 'value',
  attempts: 2,
  withinSeconds: 2 * FIRST_PAUSE,
  ...more,
});

const givenUp = (fault: Fault, ends: Ending, more: Partial<FaultCase> = {}): FaultCase => ({
  title: `a write ends with an own error if each attempt ends with ${fault}`,
  action: 'submit',
  plan: { faults: [], then: fault },
  maxRetries: 1,
  ends,
  attempts: 2,
  withinSeconds: FIRST_PAUSE,
  ...more,
});

const SHORT = { timeoutSeconds: SHORT_SECONDS, withinSeconds: 2 * SHORT_SECONDS + FIRST_PAUSE };

/** The endings of each SDK, for writes, reads, logins and files. */
export const FAULT_CASES: FaultCase[] = [
  ...ONCE.map((fault) => submitted(fault)),
  ...NEVER_ENDING.map((fault) => submitted(fault, { ...SHORT, attempts: [2, RETRIES.attempts] })),
  submitted('lost', {
    title: 'a write is repeated after several different faults',
    plan: { faults: ['reset', 'cut', 'http_503'] },
    attempts: 4,
    withinSeconds: 7 * FIRST_PAUSE,
  }),
  ...(['lost', 'cut', 'cut_unnoticed', 'reset', 'portal'] as const).map((fault) =>
    givenUp(fault, 'no response'),
  ),
  ...NEVER_ENDING.map((fault) => givenUp(fault, 'timeout', SHORT)),
  givenUp('http_503', 503),
  givenUp('http_502', 502),
  givenUp('http_500', 500, {
    title: `without options, a write is attempted ${RETRIES.attempts} times`,
    maxRetries: undefined,
    attempts: RETRIES.attempts,
    withinSeconds: 15 * FIRST_PAUSE,
  }),
  givenUp('http_429_hour', 429, {
    title: 'a Retry-After of an hour is not waited for',
    attempts: 1,
    withinSeconds: 0,
  }),
  submitted('cut', {
    title: 'a refusal that was cut is repeated, and ends as the refusal',
    trackingNumber: ' ',
    ends: 400,
  }),
  // The limits of a client without options. This takes as long as they are.
  ...(rounds(0, 1) === 1
    ? (['silent', 'silent_in_body', 'slow'] as const).map((fault) =>
        givenUp(fault, 'timeout', {
          title: `without options, an attempt with ${fault} ends after ${RETRIES.attempt_seconds} seconds`,
          maxRetries: 0,
          attempts: 1,
          withinSeconds: RETRIES.attempt_seconds,
        }),
      )
    : []),
  givenUp('silent', 'timeout', {
    title: 'no attempt begins after the last one may',
    timeoutSeconds: SHORT_SECONDS,
    lastAttemptSeconds: SHORT_SECONDS + 1.5 * FIRST_PAUSE,
    maxRetries: 9,
    attempts: [1, 2],
    withinSeconds: SHORT.withinSeconds,
  }),
  {
    title: 'a login is repeated after a lost response',
    action: 'login',
    plan: { faults: ['lost'] },
    ends: 'value',
    attempts: 2,
    withinSeconds: FIRST_PAUSE,
  },
  {
    title: 'a read is repeated after a response that was cut',
    action: 'read',
    plan: { faults: ['cut'], only: notLogin },
    ends: 'value',
    attempts: 2,
    withinSeconds: FIRST_PAUSE,
  },
  {
    title: 'a deletion, which takes no Idempotency-Key, is not repeated after a lost response',
    action: 'delete',
    plan: { faults: ['lost'], only: notLogin },
    ends: 'no response',
    attempts: 1,
    withinSeconds: 0,
  },
  {
    title: 'a deletion is repeated if the service was too busy for it',
    action: 'delete',
    plan: { faults: ['http_503'], only: notLogin },
    ends: 404,
    attempts: 2,
    withinSeconds: FIRST_PAUSE,
  },
  {
    title: 'a deletion is not repeated after the status of a CDN, because it may have been executed',
    action: 'delete',
    plan: { faults: ['http_524'], only: notLogin },
    ends: 524,
    attempts: 1,
    withinSeconds: 0,
  },
  {
    title: 'a login that a captive portal answers is repeated',
    action: 'login',
    plan: { faults: ['portal'] },
    ends: 'value',
    attempts: 2,
    withinSeconds: FIRST_PAUSE,
  },
  {
    title: 'a batch is halved until its requests arrive in time',
    action: 'batch',
    plan: { faults: [], then: 'slow_line' },
    ends: 'value',
    // 250 and 125 arrive too late, 63 in time.
    attempts: 7,
    withinSeconds: 5,
  },
  {
    title: 'without retries, a batch that does not arrive in time is an error',
    action: 'batch',
    plan: { faults: [], then: 'slow_line' },
    maxRetries: 0,
    ends: 408,
    attempts: 1,
    withinSeconds: 0,
  },
  {
    title: 'a file that a captive portal answers is repeated',
    action: 'download',
    plan: { faults: ['portal'], only: notLogin },
    ends: 'value',
    attempts: 2,
    withinSeconds: FIRST_PAUSE,
  },
  {
    title: 'a file is repeated from its start after it was cut',
    action: 'download',
    plan: { faults: ['cut'], only: notLogin },
    ends: 'value',
    attempts: 2,
    withinSeconds: FIRST_PAUSE,
  },
  {
    title: 'a file that stops arriving is repeated after the time limit',
    action: 'download',
    plan: { faults: ['silent_in_body'], only: notLogin },
    ends: 'value',
    attempts: [2, RETRIES.attempts],
    timeoutSeconds: SHORT_SECONDS,
    withinSeconds: SHORT_SECONDS + FIRST_PAUSE,
  },
  {
    title: 'a file that always stops arriving is an own error',
    action: 'download',
    plan: { faults: [], then: 'silent_in_body', only: notLogin },
    ends: 'timeout',
    attempts: 2,
    maxRetries: 1,
    ...SHORT,
  },
];
