import type { FastifyReply, FastifyRequest } from 'fastify';
import { markup, type Markup } from '../mail/markup.js';
import { languageOf, type Language, type Texts } from './language.js';
import { htmlOf, pageHeaders } from './page.js';

type FailureText = { title: string; advice: string };

const NOT_FOUND: Texts<FailureText> = {
  en: {
    title: 'This page does not exist',
    advice:
      'The link is not complete, or it works no more. Open it again from the message, or ask your courier for a new one.',
  },
  es: {
    title: 'Esta página no existe',
    advice:
      'El enlace está incompleto o ya no funciona. Ábralo de nuevo desde el mensaje o pida otro a su courier.',
  },
};

const TOO_MANY: Texts<FailureText> = {
  en: { title: 'Too many attempts', advice: 'Wait some minutes, and try again.' },
  es: { title: 'Demasiados intentos', advice: 'Espere unos minutos e inténtelo de nuevo.' },
};

const UNAVAILABLE: Texts<FailureText> = {
  en: { title: 'The page is temporarily unavailable', advice: 'Try again in a moment.' },
  es: { title: 'La página no está disponible por el momento', advice: 'Inténtelo de nuevo en un momento.' },
};

const INVALID: Texts<FailureText> = {
  en: { title: 'The page cannot be shown', advice: 'Check what you have entered, and try again.' },
  es: { title: 'No se puede mostrar la página', advice: 'Revise lo que ha escrito e inténtelo de nuevo.' },
};

const AGAIN: Texts<string> = { en: 'Try again', es: 'Intentar de nuevo' };

function textsOf(status: number): Texts<FailureText> {
  if (status === 404) return NOT_FOUND;
  if (status === 429) return TOO_MANY;
  return status >= 500 ? UNAVAILABLE : INVALID;
}

/** Whether a browser asks an operation whose responses are pages. Programs that accept anything get the JSON of the contract. */
export const takesPage = ({ operation, headers }: FastifyRequest): boolean =>
  operation?.isPage === true && (headers.accept ?? '').toLowerCase().includes('text/html');

/**
 * Sends a failure as a page. It depends on the status and the language alone, so that a page about something that exists and is not shown is
 * the same as one about nothing.
 */
export function sendFailurePage(request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  const language = languageOf(namedIn(request), request.headers['accept-language']);
  const html = request.method === 'POST' ? failureOf(status, language, request) : cached(status, language);
  return reply
    .code(status)
    .headers({ ...pageHeaders(language), 'content-type': 'text/html; charset=utf-8' })
    .send(html);
}

const made = new Map<string, string>();

/** Made once per status and language, because a flood gets little else. */
function cached(status: number, language: Language): string {
  const name = `${status} ${language}`;
  const html = made.get(name) ?? failureOf(status, language);
  made.set(name, html);
  return html;
}

function failureOf(status: number, language: Language, sent?: FastifyRequest): string {
  const { title, advice } = textsOf(status)[language];
  const content = markup`<section><h1>${title}</h1><p>${advice}</p>${sent ? again(sent, AGAIN[language]) : ''}</section>`;
  return htmlOf({ language, title, otherLanguage: null, root: '', content });
}

/** A form is sent to the address that shows it. */
const again = ({ url }: FastifyRequest, text: string): Markup =>
  markup`<p><a href="?${url.split('?')[1] ?? ''}">${text}</a></p>`;

/** The query may be invalid, or not read yet. */
const namedIn = ({ url }: FastifyRequest): string | undefined =>
  new URLSearchParams(url.split('?')[1] ?? '').get('lang') ?? undefined;
