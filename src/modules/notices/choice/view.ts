import { markup } from '../../../platform/mail/markup.js';
import type { Language, Texts } from '../../../platform/pages/language.js';
import { OTHER, type Page } from '../../../platform/pages/page.js';
import { pathOf } from '../../couriers/public.js';
import { maskAddress } from '../address.js';
import type { ChoiceRow } from './queries.js';

type ChoiceTexts = {
  title: string;
  isSent: (courier: string, address: string) => string;
  isStopped: (courier: string, address: string) => string;
  stop: string;
  resume: string;
};

const TEXTS: Texts<ChoiceTexts> = {
  en: {
    title: 'Mails about your parcels',
    isSent: (courier, address) => `${courier} sends mails about your parcels to ${address}.`,
    isStopped: (courier, address) => `${courier} sends no mails about your parcels to ${address}.`,
    stop: 'Send no more mails',
    resume: 'Send mails again',
  },
  es: {
    title: 'Correos sobre sus paquetes',
    isSent: (courier, address) => `${courier} envía correos sobre sus paquetes a ${address}.`,
    isStopped: (courier, address) => `${courier} no envía correos sobre sus paquetes a ${address}.`,
    stop: 'No enviar más correos',
    resume: 'Enviar correos de nuevo',
  },
};

export function viewChoice(row: ChoiceRow, language: Language): Page {
  const texts = TEXTS[language];
  const address = maskAddress(row.recipient);
  const state = (row.isOptedOut ? texts.isStopped : texts.isSent)(row.courierName, address);
  const content = markup`<section>
<h1>${texts.title}</h1>
<p role="status">${state}</p>
<form method="post" action="?lang=${language}">
<button name="choice" value="${row.isOptedOut ? 'resume' : 'stop'}">${row.isOptedOut ? texts.resume : texts.stop}</button>
</form>
</section>`;
  return {
    language,
    root: '../',
    courier: {
      name: row.courierName,
      logoPath: row.logoHash === null ? null : pathOf(row.courierId, row.logoHash, row.logoMediaType),
    },
    title: texts.title,
    otherLanguage: `lang=${OTHER[language]}`,
    content,
  };
}
