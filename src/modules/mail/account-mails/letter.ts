import { formatDateTime } from '../../../platform/values/time.js';
import { oneLine, shortName, withoutLinks } from '../../../platform/mail/plain-text.js';
import type { AccountMailKind, AccountMailRow } from './queries.js';
import { markup, type Markup } from '../../../platform/mail/markup.js';
import { clientName } from './client-name.js';

/** The content of a mail about an account. Each text is one line. */
export type AccountLetter = {
  subject: string;
  tenantName: string;
  /** What happened, in one or two sentences. */
  summary: string;
  /** Pairs of label and text. */
  facts: [label: string, text: string][];
  /** What the user should do. */
  advice: string[];
};

const CALL = 'If this was not you, tell your administrator at once.';
const RESET = 'If this was not you, reset your password and tell your administrator at once.';

/**
 * Greets without the name: who created the user wrote it, and nobody has confirmed the address. So it would be a text of a
 * stranger to a stranger, in the name of the warehouse.
 */
const GREETING = 'Hello,';

/** Digits of one number in a user name. With more, it could be a telephone number. */
const MAX_DIGITS = 4;

type Words = { subject: string; summary: string; advice: string };

const CAUSE =
  'In the console, Developers shows each delivery with its response, and a check of the URL names the cause. If this was a test, remove the URL.';

const WORDS: Record<Exclude<AccountMailKind, 'password_reset_link'>, Words> = {
  new_network: {
    subject: 'New login to your account',
    summary: 'Somebody logged in to your account from a new address.',
    advice: RESET,
  },
  password_changed: {
    subject: 'Your password was changed',
    summary: 'The password of your account was changed. All other sessions were ended.',
    advice: RESET,
  },
  password_reset: {
    subject: 'Your password was reset',
    summary:
      'The password of your account was reset with a link or code sent by e-mail. All sessions were ended.',
    advice: CALL,
  },
  password_reset_by_admin: {
    subject: 'An administrator reset your password',
    summary: 'An administrator has given your account a one-time password. All sessions were ended.',
    advice: 'If you did not request this, tell your administrator at once.',
  },
  two_factor_enabled: {
    subject: 'Two-factor authentication was turned on',
    summary: 'Each login to your account now requires a code from an authenticator.',
    advice: RESET,
  },
  two_factor_disabled: {
    subject: 'Two-factor authentication was turned off',
    summary: 'Logging in to your account no longer requires a code.',
    advice: RESET,
  },
  two_factor_reset_by_admin: {
    subject: 'An administrator turned your two-factor authentication off',
    summary: 'Logging in to your account requires no code until you set up an authenticator again.',
    advice: 'If you did not request this, tell your administrator at once.',
  },
  backup_codes_regenerated: {
    subject: 'New backup codes were created',
    summary: 'Ten new backup codes were created for your account. The old ones no longer work.',
    advice: RESET,
  },
  email_changed: {
    subject: 'The e-mail address of your account was changed',
    summary:
      'An administrator changed the e-mail address of your account. This mail goes to the old and to the new address.',
    advice: 'If you did not request this, tell your administrator at once.',
  },
  courier_redirected: {
    subject: 'The webhooks or the address of your courier were changed',
    summary:
      'Somebody changed where we send the data of your courier, or which: a webhook URL, the events that a URL gets, or the e-mail address of its profile. This mail goes to its owners and to the old address.',
    advice:
      'If nobody of your team did this, change it back, end all open sessions of your users, and tell the warehouse at once.',
  },
  webhook_failing: {
    subject: 'Your webhook does not accept deliveries',
    summary:
      'A URL of your courier accepts nothing. What it misses is repeated. If it accepts nothing for 48 hours, it is paused.',
    advice: CAUSE,
  },
  webhook_pausing: {
    subject: 'Your webhook will be paused within 12 hours',
    summary:
      'A URL of your courier has accepted nothing for 36 hours. After 48 hours it is paused, and nothing is sent to it.',
    advice: CAUSE,
  },
  webhook_paused: {
    subject: 'Your webhook is paused',
    summary:
      'A URL of your courier has accepted nothing for 48 hours. Nothing is sent to it until a test succeeds or the URL is changed.',
    advice: `${CAUSE} Afterwards, recover what was missed: events are kept for 90 days.`,
  },
};

/** Nobody waits for a mail about a URL that works again. */
export const isOver = ({ kind, failingSince, pausedAt }: AccountMailRow): boolean =>
  (kind === 'webhook_paused' && !pausedAt) ||
  ((kind === 'webhook_failing' || kind === 'webhook_pausing') && !failingSince);

/** What fails since when, without a word of the receiver. */
function failureFacts({
  endpoint,
  failingSince,
  lastFailureOutcome,
  lastFailureStatus,
  lastFailureError,
}: AccountMailRow): AccountLetter['facts'] {
  // Of an answer only the status: the text for it may name a customer.
  const error = lastFailureError && withoutLinks(oneLine(lastFailureError));
  const reason = lastFailureStatus === null ? [lastFailureOutcome, error] : [`HTTP ${lastFailureStatus}`];
  return [
    ['URL', `api_url_${endpoint}`],
    ...(failingSince ? [['Since', `${formatDateTime(failingSince)} UTC`] satisfies [string, string]] : []),
    ['Last', reason.filter(Boolean).join(': ')],
  ];
}

/**
 * Returns the content of a mail.
 * @param link the page for choosing a password, with the token in it
 * @param token the token to paste if there is no such page
 */
export function toAccountLetter(
  row: AccountMailRow,
  link: string | undefined,
  token: string | undefined,
): AccountLetter {
  const tenantName = oneLine(row.tenantName);
  const facts: AccountLetter['facts'] = [
    ['Account', `${shortName(row.username, MAX_DIGITS)} at ${tenantName}`],
    ['Time', `${formatDateTime(row.createdAt)} UTC`],
  ];
  if (row.address) facts.push(['Address', oneLine(row.address)]);
  if (row.userAgent) facts.push(['Client', clientName(row.userAgent)]);
  if (row.endpoint !== null) facts.push(...failureFacts(row));
  const common = { tenantName, facts };
  if (row.kind !== 'password_reset_link') {
    const { subject, summary, advice } = WORDS[row.kind];
    return { ...common, subject: `${subject} (${tenantName})`, summary, advice: [advice] };
  }
  return {
    ...common,
    subject: `Reset your password (${tenantName})`,
    summary: link
      ? 'Somebody requested a password reset for your account. Open this page to choose a new password:'
      : 'Somebody requested a password reset for your account. Enter this code on the page where you choose a new password:',
    facts: [[link ? 'Page' : 'Code', link ?? token ?? ''], ...facts],
    advice: [
      'It works once, within 30 minutes. A newer request replaces it.',
      'If you did not request it, ignore this mail. Your password does not change.',
    ],
  };
}

/** Returns subject, plain text and HTML. Both bodies have the same content. */
export const renderAccountLetter = (letter: AccountLetter) => ({
  subject: letter.subject,
  text: renderText(letter),
  html: renderHtml(letter).html,
});

function renderText({ summary, facts, advice, tenantName }: AccountLetter): string {
  const labelled = facts.map(([label, text]) => `${label.padEnd(10)}${text}`);
  return `${[GREETING, summary, labelled.join('\n'), ...advice, `--\n${tenantName}`].join('\n\n')}\n`;
}

// Without links: mail readers turn the page's address into a link themselves, and nothing else.
const renderHtml = ({ subject, summary, facts, advice, tenantName }: AccountLetter): Markup =>
  markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="format-detection" content="telephone=no">
<title>${subject}</title>
</head>
<body style="margin:0;padding:24px 16px;background:#ffffff;color:#1f2328;font:15px/1.5 Arial,Helvetica,sans-serif;overflow-wrap:anywhere">
<p>${GREETING}</p>
<p>${summary}</p>
<table role="presentation" cellpadding="2" cellspacing="0" border="0">
${facts.map(toFact)}
</table>
${advice.map((line) => markup`<p>${line}</p>`)}
<p style="font-size:12px;color:#59636e">${tenantName}</p>
</body>
</html>
`;

const toFact = ([label, text]: [string, string]): Markup =>
  markup`<tr><td valign="top" style="padding-right:24px;color:#59636e">${label}</td><td dir="auto">${text}</td></tr>`;
