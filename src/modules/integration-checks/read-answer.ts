import type { DiagnosisCode } from '../../../generated/diagnoses.js';
import { headerOf, type Answered } from './course.js';

const HTML = /^\s*(?:<!doctype html|<html|<head|<body)/i;
/** How servers begin a page about an error of a program. */
const FAILURE =
  /^\s*(?:<br\s*\/?>\s*)*(?:<b>)?(?:fatal error|error|exception|warning|notice|uncaught|traceback|sqlstate)\b/i;
const MAX_LOGIN_PATH = 500;
const LOGIN = /log-?in|sign-?in|\bsso\b|\/auth\b|\/session/i;

/** What is read of a response. Only a list of customers may be longer, and that is not read here. */
const MAX_READ_BYTES = 64 * 1024;

/** Returns the start of a response. */
export const textOf = ({ body }: Answered): string => body.toString('utf8', 0, MAX_READ_BYTES);

/** An empty response is no page, whatever type its server adds: PHP sends `text/html` without being asked. */
export const isHtml = (answer: Answered): boolean =>
  textOf(answer).trim() !== '' &&
  (/html/i.test(headerOf(answer, 'content-type') ?? '') || HTML.test(textOf(answer)));

/** Returns the content of a JSON response, or undefined if it is none. */
export function jsonOf(answer: Answered): unknown {
  try {
    return JSON.parse(textOf(answer)) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns whether the body of a success says that something failed. */
export function saysError(answer: Answered): boolean {
  const content = jsonOf(answer);
  if (content === undefined) return FAILURE.test(textOf(answer));
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content === false;
  const fields = new Map(Object.entries(content).map(([name, value]) => [name.toLowerCase(), value]));
  const isFalse = ['success', 'ok', 'succeeded'].some((name) => isNo(fields.get(name)));
  const isFilled = ['error', 'errors', 'exception'].some((name) => isSomething(fields.get(name)));
  return isFalse || isFilled || isBadStatus(fields.get('status')) || isBadStatus(fields.get('code'));
}

const isNo = (value: unknown) => value === false || value === 0 || value === 'false';

function isSomething(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' ? value !== '' && value !== 'false' && value !== '0' : value === true;
}

const isBadStatus = (value: unknown) =>
  (typeof value === 'number' && value >= 400 && value <= 599) ||
  (typeof value === 'string' && /^(?:error|fail|failed|failure|invalid|[45]\d\d)$/i.test(value));

/** Returns the kind of a redirect, and its target without the values of its query. */
export function readRedirect(answer: Answered, from: string): { code: DiagnosisCode; target: string } {
  const location = headerOf(answer, 'location');
  const to = location !== undefined && URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (!to) return { code: 'redirect', target: 'no Location' };
  const old = new URL(from);
  const target = `${to.origin}${to.pathname}`;
  const where = `${to.hostname}${to.pathname}`.slice(0, MAX_LOGIN_PATH);
  if (LOGIN.test(where) && !LOGIN.test(old.pathname)) return { code: 'redirect_to_login', target };
  if (to.hostname !== old.hostname) return { code: 'redirect_to_other_host', target };
  if (old.protocol === 'http:' && to.protocol === 'https:') return { code: 'redirect_to_https', target };
  return { code: 'redirect', target };
}
