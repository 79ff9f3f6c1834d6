import { markup, type Markup } from '../../../platform/mail/markup.js';
import { oneLine, shorten, shortName, withoutLinks } from '../../../platform/mail/plain-text.js';
import { groupBy } from '../../../platform/values/group-by.js';
import type { NoticeLanguage } from '../settings-queries.js';
import type { MailRow, ParcelRow } from './queries.js';
import { TEXTS, type MailTexts } from './texts.js';

/** Digits of one number in a name. With more, it could be a telephone number. */
const MAX_DIGITS = 4;
const MAX_DIGITS_OF_CODE = 8;

/** Longer than the numbers of all carriers. */
const MAX_NUMBER = 40;

/** The parcels with one status. `total` is larger than the list if that was cut. */
type Section = { title: string; numbers: string[]; more: string | undefined };

type Letter = {
  language: NoticeLanguage;
  subject: string;
  greeting: string;
  sections: Section[];
  signature: string[];
  reason: string;
  stop: string;
  link: string;
};

/** The courier's name, which it writes itself: the mail is the warehouse's, so the name has no link and no telephone number. */
export const nameOf = ({ courierName }: Pick<MailRow, 'courierName'>): string =>
  shortName(courierName, MAX_DIGITS);

/**
 * Returns subject, plain text and HTML. Both bodies have the same content.
 * @param link the page with the choice of the recipient
 */
export function renderNotice(row: MailRow, parcels: ParcelRow[], link: string) {
  const letter = toLetter(row, parcels, link);
  return { subject: letter.subject, text: renderText(letter), html: renderHtml(letter).html };
}

function toLetter(row: MailRow, parcels: ParcelRow[], link: string): Letter {
  const texts = TEXTS[row.language];
  const sections = [...groupBy(parcels, ({ state }) => state).values()].map((group) =>
    toSection(texts, group),
  );
  const name = nameOf(row);
  return {
    language: row.language,
    subject: `${subjectOf(texts, parcels, sections)} (${name})`,
    greeting: texts.greeting(shortName(row.firstName, MAX_DIGITS)),
    sections,
    signature: (row.signature ?? '').split('\n').map((line) => withoutLinks(oneLine(line))),
    reason: texts.reason(name, oneLine(row.tenantName), shortName(row.userCode, MAX_DIGITS_OF_CODE)),
    stop: texts.stop,
    link,
  };
}

function toSection(texts: MailTexts, group: ParcelRow[]): Section {
  const [first] = group;
  if (!first) throw new Error('A group has no parcel.');
  const { state, total } = first;
  const { one, several } = texts.states[state];
  return {
    title: total === 1 ? one : several(total),
    numbers: group.map(({ trackingNumber }) => withoutLinks(shorten(oneLine(trackingNumber), MAX_NUMBER))),
    more: total > group.length ? texts.more(total - group.length) : undefined,
  };
}

function subjectOf(texts: MailTexts, parcels: ParcelRow[], [first, ...others]: Section[]): string {
  if (!first) throw new Error('A mail has no section.');
  if (others.length === 0) return first.title;
  const totals = new Map(parcels.map(({ state, total }) => [state, total]));
  return texts.news([...totals.values()].reduce((sum, total) => sum + total, 0));
}

function renderText({ greeting, sections, signature, reason, stop, link }: Letter): string {
  const listed = sections.map(({ title, numbers, more }) =>
    [`${title}:`, ...numbers.map((number) => `- ${number}`), ...(more ? [more] : [])].join('\n'),
  );
  const own = signature.join('\n').trim();
  const paragraphs = [greeting, ...listed, ...(own ? [own] : []), `--\n${reason}\n${stop}: ${link}`];
  return `${paragraphs.join('\n\n')}\n`;
}

const renderHtml = ({ language, subject, greeting, sections, signature, ...rest }: Letter): Markup =>
  markup`<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${subject}</title>
</head>
<body style="margin:0;padding:24px 16px;background:#ffffff;color:#1f2328;font:15px/1.5 Arial,Helvetica,sans-serif;overflow-wrap:anywhere">
<p dir="auto">${greeting}</p>
${sections.map(toSectionMarkup)}
${signature.join('').trim() === '' ? [] : markup`<p dir="auto">${signature.map((line) => markup`${line}<br>`)}</p>`}
<p style="font-size:12px;color:#59636e">${rest.reason}<br><a href="${rest.link}">${rest.stop}</a></p>
</body>
</html>
`;

const toSectionMarkup = ({ title, numbers, more }: Section): Markup =>
  markup`<h1 style="font-size:17px;margin:16px 0 4px">${title}</h1>
<ul style="margin:0 0 16px;padding-left:20px">
${numbers.map((number) => markup`<li>${number}</li>`)}
</ul>
${more === undefined ? [] : markup`<p>${more}</p>`}`;
