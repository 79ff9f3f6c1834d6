import type { Letter, LetterPackage } from './letter.js';
import { markup, type Markup } from '../../../platform/mail/markup.js';
import { countOf } from '../../../platform/values/count-of.js';

export type Rendered = { subject: string; text: string; html: string };

/** Returns subject, plain text and HTML. Both bodies have the same content. */
export function render(letter: Letter): Rendered {
  const { headline, packageCount } = letter;
  return {
    subject: `${headline}: ${countOf(packageCount, 'package')}`,
    text: renderText(letter),
    html: renderHtml(letter).html,
  };
}

function renderText({ headline, greeting, facts, packages, notes, reason }: Letter): string {
  const labelled = facts.map(([label, text]) => `${label.padEnd(15)}${text}`);
  const paragraphs = [
    `${greeting},`,
    `${headline}.`,
    labelled.join('\n'),
    listed(packages).join('\n'),
    ...notes,
  ];
  return `${[...paragraphs, `--\n${reason}`].join('\n\n')}\n`;
}

// Limits the width, so that one long number does not widen the column for all rows.
const WIDEST_COLUMN = 32;

/** Returns one line per package. The user code comes last, because it may be written from right to left. */
function listed(packages: LetterPackage[]): string[] {
  const rows = packages.map((item) => [item.trackingNumber, item.houseNumber, item.weight]);
  const width = (n: number) => Math.min(WIDEST_COLUMN, Math.max(...rows.map((row) => row[n]?.length ?? 0)));
  const widths = [width(0), width(1), width(2)];
  return packages.map(({ userCode }, n) =>
    [...(rows[n] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0)), userCode].join('  '),
  );
}

// Tables and presentational attributes, because many mail readers support nothing else. Rows have no styles,
// because Gmail truncates a mail after 102 KB.
const renderHtml = ({ headline, greeting, houseColor, facts, packages, notes, reason }: Letter): Markup =>
  markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<meta name="format-detection" content="telephone=no">
<title>${headline}</title>
</head>
<body style="margin:0;padding:0;background:#ffffff;color:#1f2328;font:15px/1.5 Arial,Helvetica,sans-serif">
${houseColor === undefined ? [] : toBar(houseColor)}
<div style="max-width:760px;margin:0 auto;padding:24px 16px;overflow-wrap:anywhere">
<p style="margin:0 0 16px" dir="auto">${greeting},</p>
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${headline}</h1>
<table role="presentation" cellpadding="2" cellspacing="0" border="0" style="margin:0 0 24px;font-size:15px">
${facts.map(toFact)}
</table>
<table cellpadding="6" cellspacing="0" border="1" rules="rows" frame="hsides" width="100%" style="table-layout:fixed;border-collapse:collapse;border-color:#d1d9e0;font-size:14px">
<tr bgcolor="#f6f8fa"><th width="45%" align="left">Tracking and house number</th><th width="37%" align="left">User code</th><th width="18%" align="right">Weight</th></tr>
${packages.map(toRow)}
</table>
${notes.map((note) => markup`<p style="margin:16px 0 0">${note}</p>`)}
<p style="margin:24px 0 0;font-size:12px;color:#59636e">${reason}</p>
</div>
</body>
</html>
`;

const toBar = (color: string): Markup =>
  markup`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td height="6" bgcolor="${color}" style="height:6px;font-size:0;line-height:0">&nbsp;</td></tr></table>`;

const toFact = ([label, text]: [string, string]): Markup =>
  markup`<tr><td valign="top" style="padding-right:24px;color:#59636e">${label}</td><td dir="auto">${text}</td></tr>`;

const toRow = ({ trackingNumber, houseNumber, userCode, weight }: LetterPackage): Markup =>
  markup`<tr><td>${trackingNumber}<br>${houseNumber}</td><td dir="auto">${userCode}</td><td align="right">${weight}</td></tr>`;
