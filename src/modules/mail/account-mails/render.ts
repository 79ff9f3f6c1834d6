import type { AccountLetter } from './letter.js';
import { markup, type Markup } from '../../../platform/mail/markup.js';

/** Returns subject, plain text and HTML. Both bodies have the same content. */
export const renderAccountLetter = (letter: AccountLetter) => ({
  subject: letter.subject,
  text: renderText(letter),
  html: renderHtml(letter).html,
});

function renderText({ greeting, summary, facts, advice, tenantName }: AccountLetter): string {
  const labelled = facts.map(([label, text]) => `${label.padEnd(10)}${text}`);
  return `${[`${greeting},`, summary, labelled.join('\n'), ...advice, `--\n${tenantName}`].join('\n\n')}\n`;
}

// Without links: mail readers turn the page's address into a link themselves, and nothing else.
const renderHtml = ({ subject, greeting, summary, facts, advice, tenantName }: AccountLetter): Markup =>
  markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${subject}</title>
</head>
<body style="margin:0;padding:24px 16px;background:#ffffff;color:#1f2328;font:15px/1.5 Arial,Helvetica,sans-serif;overflow-wrap:anywhere">
<p dir="auto">${greeting},</p>
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
