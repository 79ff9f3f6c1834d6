import { curl } from './languages/curl.mjs';
import { go } from './languages/go.mjs';
import { javascript } from './languages/javascript.mjs';
import { php } from './languages/php.mjs';
import { python } from './languages/python.mjs';
import { addressOf, sampleRequests, serverUrl } from './sample-requests.mjs';

/** The languages of the samples, in the order in which documentation shows them. */
export const LANGUAGES = [
  { id: 'curl', lang: 'Shell', label: 'curl', write: curl },
  { id: 'php', lang: 'PHP', label: 'PHP', write: php },
  { id: 'python', lang: 'Python', label: 'Python', write: python },
  { id: 'javascript', lang: 'JavaScript', label: 'JavaScript', write: javascript },
  { id: 'go', lang: 'Go', label: 'Go', write: go },
];

/** What a reader replaces in a sample, besides the host. */
export const PLACEHOLDERS = { token: 'YOUR_TOKEN', key: 'YOUR_API_KEY', idempotencyKey: 'YOUR_UNIQUE_KEY' };

/**
 * Returns the samples of each request of each operation, by operationId.
 *
 * @param {object} bundle the published contract
 * @returns {Record<string, { title: string, example: string, samples: Record<string, string> }[]>}
 */
export function codeSamples(bundle) {
  return samplesOf(bundle, sampleRequests(bundle));
}

/** Returns the same for a courier: without the parameters with which staff name a courier, and with an Idempotency-Key. */
export function courierSamples(bundle) {
  const ofCourier = (request) => ({
    ...request,
    query: request.query.filter(({ isRequired }) => isRequired),
    hasIdempotencyKey: request.takesIdempotencyKey,
  });
  return samplesOf(bundle, sampleRequests(bundle).map(ofCourier));
}

function samplesOf(bundle, requests) {
  const server = serverUrl(bundle);
  const found = {};
  for (const request of requests) {
    const call = toCall(server, request);
    const samples = Object.fromEntries(LANGUAGES.map(({ id, write }) => [id, write(call)]));
    const { operationId, title, example } = request;
    (found[operationId] ??= []).push({ title, example, samples });
  }
  return found;
}

/** Returns the samples of an operation as `x-codeSamples`, which reference pages show. */
export function toCodeSamples(requests) {
  return LANGUAGES.flatMap(({ id, lang, label }) =>
    requests.map(({ title, samples }) => ({
      lang,
      label: requests.length === 1 ? label : `${label}: ${title.replace(/^.*?: /, '')}`,
      source: samples[id],
    })),
  );
}

/** Returns what a program needs to send the request. */
function toCall(server, request) {
  const { method, credential, body, download } = request;
  const headers = [];
  if (credential === 'token') headers.push(['Authorization', `Bearer ${PLACEHOLDERS.token}`]);
  if (credential === 'key') headers.push(['X-API-KEY', PLACEHOLDERS.key]);
  if (request.hasIdempotencyKey) headers.push(['Idempotency-Key', PLACEHOLDERS.idempotencyKey]);
  // HTTP libraries set the type of a form themselves.
  if (body?.type === 'json' || body?.type === 'text') headers.push(['Content-Type', body.mediaType]);
  return { method, url: `${server}${addressOf(request)}`, headers, body, download };
}
