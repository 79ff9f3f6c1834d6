import { markup, type Markup } from '../../../platform/mail/markup.js';
import type { Language } from '../../../platform/pages/language.js';
import { OTHER, type Page } from '../../../platform/pages/page.js';
import { pathOf } from '../../couriers/public.js';
import type { CourierRow, PageRow, Step } from './queries.js';
import { TEXTS } from './texts.js';

const NONE: Markup = { html: '' };

/** @param place how the root is reached from the address, and the code of the courier if the page is what a search has found */
export function viewPage(
  row: PageRow,
  language: Language,
  { root, code }: { root: string; code?: string },
): Page {
  const texts = TEXTS[language];
  const { title, advice } = texts.statuses[row.status];
  const note = language === 'en' ? (row.noteEn ?? row.noteEs) : (row.noteEs ?? row.noteEn);
  const amountDue = row.amountDue === null ? null : showAmount(row.amountDue, row.currency, language);
  const content = markup`<section>
<h1>${title}</h1>
<p>${advice}</p>
<dl>
${fact(texts.number, row.trackingNumber)}
${fact(texts.branch, row.branch)}
${row.expectedDate === null ? fact(texts.flight, showDate(row.flightDate, language)) : fact(texts.expected, showDate(row.expectedDate, language))}
${fact(texts.amountDue, amountDue)}
</dl>
</section>
${note === null ? NONE : markup`<section><h2>${texts.note}</h2><p class="note">${note}</p></section>`}
${viewHistory(row.steps, language)}`;
  return {
    ...frameOf(row, language, root),
    title: texts.title,
    otherLanguage: code === undefined ? `lang=${OTHER[language]}` : searchQuery(code, OTHER[language]),
    content,
  };
}

export function viewSearch(
  courier: CourierRow,
  language: Language,
  { code, isEmpty }: { code: string; isEmpty: boolean },
): Page {
  const texts = TEXTS[language].search;
  const content = markup`<section>
<h1>${texts.title}</h1>
${isEmpty ? markup`<p class="warning" role="alert">${texts.nothing}</p>` : NONE}
<p>${texts.advice}</p>
<form method="post" action="?${searchQuery(code, language)}">
<label for="number">${texts.number}</label>
<input id="number" name="tracking_number" required maxlength="100" autocomplete="off" autocapitalize="characters" spellcheck="false">
<label for="name">${texts.lastName}</label>
<input id="name" name="last_name" required maxlength="100" autocomplete="family-name">
<button>${texts.send}</button>
</form>
</section>`;
  return {
    ...frameOf(courier, language, ''),
    title: texts.title,
    otherLanguage: searchQuery(code, OTHER[language]),
    content,
  };
}

const searchQuery = (courier: string, lang: Language): string =>
  new URLSearchParams({ courier, lang }).toString();

const frameOf = (row: CourierRow, language: Language, root: string) => ({
  language,
  root,
  courier: {
    name: row.courierName,
    logoPath: row.logoHash === null ? null : pathOf(row.courierId, row.logoHash, row.logoMediaType),
  },
});

const fact = (term: string, value: string | null): Markup =>
  value === null || value === '' ? NONE : markup`<dt>${term}</dt><dd>${value}</dd>`;

/** Changes of the receipt are events with the status of before, and are not shown. */
function viewHistory(steps: Step[], language: Language): Markup {
  const { history, statuses } = TEXTS[language];
  const shown = steps.filter(({ status }, index) => status !== steps[index + 1]?.status);
  if (shown.length === 0) return NONE;
  const items = shown.map(
    ({ status, on }) =>
      markup`<li>${statuses[status].title}<time datetime="${on}">${showDate(on, language) ?? ''}</time></li>`,
  );
  return markup`<section><h2>${history}</h2><ol>${items}</ol></section>`;
}

/** A day without a time is the same everywhere. */
function showDate(day: string | null, language: Language): string | null {
  if (day === null) return null;
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );
}

const showAmount = (amount: string, currency: string, language: Language): string =>
  new Intl.NumberFormat(language, { style: 'currency', currency, currencyDisplay: 'code' }).format(
    Number(amount),
  );
