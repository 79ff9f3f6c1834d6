import { markup, type Markup } from '../../../platform/mail/markup.js';
import { oneLine } from '../../../platform/mail/plain-text.js';
import type { Language, MailDataRow } from './queries.js';

type Words = {
  subject: (number: string, tenant: string) => string;
  /** With the courier's code, which the warehouse has chosen. The courier writes its name itself, and its address is not confirmed. */
  greeting: (code: string) => string;
  attached: string;
  tooLong: string;
  labels: { bill: string; period: string; total: string; balance: string; due: string };
  reason: (tenant: string) => string;
};

const WORDS: Record<Language, Words> = {
  en: {
    subject: (number, tenant) => `Bill ${number} (${tenant})`,
    greeting: (code) => `${code},`,
    attached: 'Your bill is attached as a PDF.',
    tooLong: 'Your bill has too many lines for a PDF. Log in to read them, or to save them as a file.',
    labels: { bill: 'Bill', period: 'Period', total: 'Total', balance: 'To pay', due: 'Due' },
    reason: (tenant) => `${tenant} sends its bills to the e-mail address of your profile.`,
  },
  es: {
    subject: (number, tenant) => `Factura ${number} (${tenant})`,
    greeting: (code) => `${code}:`,
    attached: 'Adjuntamos su factura en PDF.',
    tooLong:
      'Su factura tiene demasiadas líneas para un PDF. Inicie sesión para verlas o guardarlas en un archivo.',
    labels: {
      bill: 'Factura',
      period: 'Período',
      total: 'Total',
      balance: 'Por pagar',
      due: 'Vencimiento',
    },
    reason: (tenant) => `${tenant} envía sus facturas a la dirección de correo de su perfil.`,
  },
};

/** Returns subject, plain text and HTML. Both bodies have the same content. */
export function renderBillLetter(row: MailDataRow, isAttached: boolean) {
  const words = WORDS[row.language];
  const { labels } = words;
  const [tenant, number] = [oneLine(row.tenantName), oneLine(row.invoiceNumber)];
  const facts: [label: string, text: string][] = [
    [labels.bill, number],
    [labels.period, `${row.startDate} – ${row.endDate}`],
    [labels.total, `${row.totalAmount} ${row.currency}`],
    [labels.balance, `${row.balance} ${row.currency}`],
  ];
  if (row.dueDate) facts.push([labels.due, row.dueDate]);
  const [greeting, reason] = [words.greeting(oneLine(row.courierCode)), words.reason(tenant)];
  const letter = { greeting, advice: isAttached ? words.attached : words.tooLong, facts, reason };
  const subject = words.subject(number, tenant);
  const html = renderHtml(letter, subject, row.language).html;
  return { subject, text: renderText(letter), html };
}

type Letter = { greeting: string; advice: string; facts: [label: string, text: string][]; reason: string };

function renderText({ greeting, advice, facts, reason }: Letter): string {
  const labelled = facts.map(([label, text]) => `${label.padEnd(14)}${text}`);
  return `${[greeting, advice, labelled.join('\n'), `--\n${reason}`].join('\n\n')}\n`;
}

const renderHtml = ({ greeting, advice, facts, reason }: Letter, subject: string, language: string): Markup =>
  markup`<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="format-detection" content="telephone=no">
<title>${subject}</title>
</head>
<body style="margin:0;padding:24px 16px;background:#ffffff;color:#1f2328;font:15px/1.5 Arial,Helvetica,sans-serif;overflow-wrap:anywhere">
<p dir="auto">${greeting}</p>
<p>${advice}</p>
<table role="presentation" cellpadding="2" cellspacing="0" border="0">
${facts.map(toFact)}
</table>
<p style="font-size:12px;color:#59636e">${reason}</p>
</body>
</html>
`;

const toFact = ([label, text]: [string, string]): Markup =>
  markup`<tr><td valign="top" style="padding-right:24px;color:#59636e">${label}</td><td dir="auto">${text}</td></tr>`;
