import type { DiagnosisCode } from '../../../generated/diagnoses.js';
import type { Mask } from '../webhooks/public.js';
import { headerOf, type Answer, type Answered, type Course } from './course.js';
import { isHtml, readRedirect } from './read-answer.js';

export const isSuccess = ({ status }: Answered) => status >= 200 && status <= 299;
export const isRefusedCaller = ({ status }: Answered) => status === 401 || status === 403;

const BY_STATUS: Record<number, DiagnosisCode> = {
  405: 'method_refused',
  413: 'body_too_large',
  429: 'rate_limited',
};

/** Finds what a request shows that was not answered, or answered with a status that has the same meaning everywhere. */
export function findRefusal(
  course: Course,
  answer: Answer,
  { url, mask }: { url: string; mask: Mask },
): void {
  if (answer.outcome !== 'answered') course.find(answer.reason, answer, mask);
  else if (answer.status >= 300 && answer.status <= 399) {
    const { code, target } = readRedirect(answer, url);
    course.find(code, answer, mask, { detail: target });
  } else if (answer.status === 404) course.find(isHtml(answer) ? 'wrong_path' : 'not_found', answer, mask);
  else if (answer.status >= 500) course.find('server_error', answer, mask);
  else {
    const retryAfter = answer.status === 429 ? headerOf(answer, 'retry-after') : undefined;
    course.find(
      BY_STATUS[answer.status] ?? 'refused',
      answer,
      mask,
      retryAfter === undefined ? {} : { detail: `Retry-After: ${retryAfter}` },
    );
  }
}

const SLOW_SHARE = 0.5;

/** Finds a response that took most of the time limit. */
export function findSlowness(course: Course, answer: Answer, timeoutMs: number, mask: Mask): void {
  if (answer.outcome === 'answered' && answer.durationMs > timeoutMs * SLOW_SHARE)
    course.find('slow_response', answer, mask, {
      detail: `${(answer.durationMs / 1_000).toFixed(1)} s of ${timeoutMs / 1_000} s`,
      isPrivate: true,
    });
}
