import type { Contract } from '../document/openapi.js';
import type { Call } from './languages/call.js';
import { curl } from './languages/curl.js';
import { go } from './languages/go.js';
import { javascript } from './languages/javascript.js';
import { php } from './languages/php.js';
import { python } from './languages/python.js';
import { addressOf, sampleRequests, serverUrl, type SampleRequest } from './sample-requests.js';

export type LanguageId = 'curl' | 'php' | 'python' | 'javascript' | 'go';
type Language = { id: LanguageId; lang: string; label: string; write: (call: Call) => string };

/** The samples of one request: of an operation, or of an action of it. */
export type RequestSamples = { title: string; example: string; samples: Record<LanguageId, string> };
/** The samples of each operation, by operationId. */
export type Samples = Record<string, RequestSamples[]>;

/** The languages of the samples, in the order in which documentation shows them. */
export const LANGUAGES: Language[] = [
  { id: 'curl', lang: 'Shell', label: 'curl', write: curl },
  { id: 'php', lang: 'PHP', label: 'PHP', write: php },
  { id: 'python', lang: 'Python', label: 'Python', write: python },
  { id: 'javascript', lang: 'JavaScript', label: 'JavaScript', write: javascript },
  { id: 'go', lang: 'Go', label: 'Go', write: go },
];

/** What a reader replaces in a sample, besides the host. */
export const PLACEHOLDERS = { token: 'YOUR_TOKEN', key: 'YOUR_API_KEY', idempotencyKey: 'YOUR_UNIQUE_KEY' };

/** Returns the samples of each request of each operation of the published contract. */
export function codeSamples(bundle: Contract): Samples {
  return samplesOf(bundle, sampleRequests(bundle));
}

/** Returns the same for a courier: without the parameters with which staff name a courier, and with an Idempotency-Key. */
export function courierSamples(bundle: Contract): Samples {
  const ofCourier = (request: SampleRequest): SampleRequest => ({
    ...request,
    query: request.query.filter(({ isRequired }) => isRequired),
  });
  return samplesOf(bundle, sampleRequests(bundle).map(ofCourier), true);
}

function samplesOf(bundle: Contract, requests: SampleRequest[], isWithKey = false): Samples {
  const server = serverUrl(bundle);
  const found: Samples = {};
  for (const request of requests) {
    const call = toCall(server, request, isWithKey);
    // LANGUAGES has an entry for each language.
    const samples = Object.fromEntries(LANGUAGES.map(({ id, write }) => [id, write(call)])) as Record<
      LanguageId,
      string
    >;
    const { operationId, title, example } = request;
    (found[operationId] ??= []).push({ title, example, samples });
  }
  return found;
}

/** Returns the samples of an operation as `x-codeSamples`, which reference pages show. */
export function toCodeSamples(requests: RequestSamples[]): { lang: string; label: string; source: string }[] {
  return LANGUAGES.flatMap(({ id, lang, label }) =>
    requests.map(({ title, samples }) => ({
      lang,
      label: requests.length === 1 ? label : `${label}: ${title.replace(/^.*?: /, '')}`,
      source: samples[id],
    })),
  );
}

/** Returns what a program needs to send the request. */
function toCall(server: string, request: SampleRequest, isWithKey: boolean): Call {
  const { method, credential, body, download } = request;
  const headers: Call['headers'] = [];
  if (credential === 'token') headers.push(['Authorization', `Bearer ${PLACEHOLDERS.token}`]);
  if (credential === 'key') headers.push(['X-API-KEY', PLACEHOLDERS.key]);
  if (isWithKey && request.takesIdempotencyKey)
    headers.push(['Idempotency-Key', PLACEHOLDERS.idempotencyKey]);
  // HTTP libraries set the type of a form themselves.
  if (body?.type === 'json' || body?.type === 'text') headers.push(['Content-Type', body.mediaType]);
  return { method, url: `${server}${addressOf(request)}`, headers, body, download };
}
